import type { Config, ConfigInput } from '../config.ts';
import type { StorageKey } from '../connections/credentials/seal.ts';
import type { Store } from '../store/database.ts';
import type { RunningGateway } from './gateway/client.ts';
import type { Io } from './terminal/io.ts';

/** What a command may use. Everything is opened on first use and closed by the program. */
export interface Context {
  io: Io;
  now: () => number;
  config(): Promise<Config>;
  /** The same as it is now, where `config` is as it was at first. */
  readConfig(): Promise<Config>;
  /** The data directory. Unlike the whole configuration it is known where `config.json` is wrong. */
  dataDir(): Promise<string>;
  /** DATABASE_URL; null where the state is in the data directory. */
  database(): Promise<string | null>;
  /** The value of an environment variable that the user named; undefined when unset or empty. */
  variable(name: string): Promise<string | undefined>;
  /** The values of variables that decide where other programs are and keep their files. */
  variables(names: readonly string[]): Promise<Record<string, string | undefined>>;
  /** All variables, for a program that is started in the place of this one. */
  environment(): Promise<Record<string, string | undefined>>;
  /** Which of `names` are set in the environment. Their values are not read out. */
  setVariables(names: readonly string[]): Promise<string[]>;
  /** The database of the data directory, created when there is none. */
  store(): Promise<Store>;
  /** The database, or null when there is none yet: reading leaves no trace in an empty place. */
  existingStore(): Promise<Store | null>;
  /** The keys that open credentials and kept responses, and where they came from. None is made. */
  sealingKey(): Promise<StorageKey>;
  /** The same for one who stores a credential: the first makes the key. */
  usableKey(): Promise<StorageKey>;
  /** The gateway that runs on the data directory, or null. */
  findGateway(): Promise<RunningGateway | null>;
  /** @throws a failure with exit 3 when none runs */
  gateway(): Promise<RunningGateway>;
  /** Waits until a running gateway has taken over what was changed in the store, at most two seconds. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface ContextInput {
  io: Io;
  flags: NonNullable<ConfigInput['flags']>;
  now?: () => number;
}

/** How long the store is asked whether something was changed. */
const SETTLE_MS = 2_000;

export function createContext({ io, flags, now = Date.now }: ContextInput): Context {
  const readConfig = async () => (await import('../config.ts')).loadConfig({ flags });
  const config = once(readConfig);
  const dataDir = async () => (await import('../config.ts')).dataDirectoryOf({ flags });
  const database = async () => (await import('../config.ts')).databaseUrlOf();
  const keyPlace = async () => {
    const { storageSecretOf } = await import('../config.ts');
    return { dataDir: await dataDir(), secret: storageSecretOf() };
  };
  let before = 0;
  const store = once(async () => {
    const { openStoreAt } = await import('../store/open.ts');
    const onWait = () =>
      io.note('Another process has locked the database: waiting for it, at most 15 seconds.');
    const place = { dataDir: await dataDir(), database: await database() };
    const opened = await openStoreAt(place, { create: true, now, onWait, follow: false });
    before = opened.revision();
    return opened;
  });
  const existingStore = once(async () => {
    // A database on a server was created on purpose.
    if ((await database()) !== null) return store();
    const { existsSync } = await import('node:fs');
    const { databasePath } = await import('../store/database.ts');
    return existsSync(databasePath(await dataDir())) ? store() : null;
  });
  const usableKey = once(async () => {
    const { usableStorageKey } = await import('../connections/credentials/storage-key.ts');
    const usable = await usableStorageKey(await store(), await keyPlace());
    if (usable.source === 'generated') {
      io.note(
        `Made a key for stored credentials: ${await dataDir()}/storage.key. Back it up with the data directory.`,
      );
    }
    return usable;
  });
  const sealingKey = async () => {
    const made = usableKey.started();
    if (made !== null) return made;
    const { existingStorageKey } = await import('../connections/credentials/storage-key.ts');
    return existingStorageKey(await existingStore(), await keyPlace());
  };
  const findGateway = once(async () => {
    const client = await import('./gateway/client.ts');
    return client.findGateway(await dataDir());
  });
  return {
    io,
    now,
    config,
    readConfig,
    dataDir,
    database,
    variable: async (name) => (await import('../config.ts')).readVariable(name),
    variables: async (names) => {
      const { readVariable } = await import('../config.ts');
      return Object.fromEntries(names.map((name) => [name, readVariable(name)]));
    },
    environment: async () => (await import('../config.ts')).inheritedEnvironment(),
    setVariables: async (names) => (await import('../config.ts')).setVariables(names),
    store,
    existingStore,
    sealingKey,
    usableKey,
    findGateway,
    gateway: async () => {
      const running = await findGateway();
      if (running !== null) return running;
      const { notRunning } = await import('./gateway/client.ts');
      throw notRunning(await dataDir());
    },
    settle: async () => {
      const opened = await store.started();
      if (opened === null) return;
      const { withDeadline } = await import('../store/postgres/deadline.ts');
      // What was changed is stored: a database that went away since then is no failure of the command.
      const revision = await withDeadline(opened.latestRevision(), SETTLE_MS).catch(() => before);
      if (revision === before) return;
      const { waitForRevision } = await import('./gateway/client.ts');
      await waitForRevision(await dataDir(), revision);
    },
    close: async () => {
      const opened = store.started();
      if (opened !== null) await (await opened.catch(() => null))?.close();
    },
  };
}

interface Once<T> {
  (): Promise<T>;
  /** The promise of the first call, or null before it. */
  started(): Promise<T> | null;
}

function once<T>(make: () => Promise<T>): Once<T> {
  let made: Promise<T> | null = null;
  const get = () => {
    made ??= make();
    return made;
  };
  get.started = () => made;
  return get;
}
