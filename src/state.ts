import { join } from 'node:path';
import { keyReader } from './access/keys/key-index.ts';
import { keyPages } from './access/keys/key-pages.ts';
import { keyStore } from './access/store.ts';
import { tagOf } from './budgets/budget-index.ts';
import type { LimitsInput } from './budgets/limits.ts';
import { type OpenLimits, type OpenShared, openLimits, openShared } from './budgets/open.ts';
import type { BudgetEvent } from './budgets/reservation.ts';
import { leaseStore } from './budgets/shared/lease-store.ts';
import { currentCatalog } from './catalog/current.ts';
import { aliasStore } from './combos/aliases/store.ts';
import { comboStore } from './combos/store.ts';
import type { Config } from './config.ts';
import { loggingOut } from './connections/accounts/logout.ts';
import type { StorageKey } from './connections/credentials/seal.ts';
import { countSealed, settleKeyChange, usableStorageKey } from './connections/credentials/storage-key.ts';
import type { OpenConnection } from './connections/schema.ts';
import { connectionStore } from './connections/store.ts';
import { budgetUsageParts } from './ledger/used.ts';
import { randomText } from './lib/id.ts';
import { describe, type Log } from './lib/log.ts';
import type { Schedule } from './lib/time/schedule.ts';
import type { openLedger } from './records.ts';
import { buildSnapshot, type Snapshot } from './snapshot.ts';
import type { Store } from './store/database.ts';

/** How often changes made by other processes (the CLI) are looked for. */
const REVISION_POLL_MS = 500;

/** The key that opens stored credentials. One that is gone is not replaced. */
export async function sealingKey(
  store: Pick<Store, 'db' | 'kind'>,
  { dataDir, storageKey: secret }: Config,
  log: Log,
): Promise<StorageKey> {
  await settleKeyChange(store, dataDir);
  const sealing = await usableStorageKey(store, { dataDir, secret });
  const file = join(dataDir, 'storage.key');
  if (sealing.source === 'generated')
    log.warn({ file }, 'a key for stored credentials was generated; keep a copy of it with your backups');
  if (sealing.source === 'missing')
    log.error(
      { file, credentials: await countSealed(store) },
      'the key of the stored credentials is missing, and none of them can be used: restore it, or set STORAGE_ENCRYPTION_KEY',
    );
  return sealing;
}

/** What the snapshot is made of, as it is stored. */
export function storedSettings(store: Pick<Store, 'db' | 'kind'>, sealing: Buffer, log: Pick<Log, 'warn'>) {
  return {
    keys: keyStore(store),
    keyPages: keyPages(store),
    connections: loggingOut(connectionStore(store, sealing), ({ leftAlive: reason, name: connection }) =>
      log.warn({ connection, reason }, 'the login of a removed connection was not ended at its server'),
    ),
    combos: comboStore(store),
    aliases: aliasStore(store),
  };
}

interface SettingsInput extends ReturnType<typeof storedSettings> {
  store: Pick<Store, 'kind' | 'revision'>;
  config: Pick<Config, 'prices' | 'dataDir'>;
  /** What can be asked for as `acp/…`, as it is set up at this moment. */
  agentModels(): Promise<readonly string[]>;
  limits: Pick<OpenLimits, 'reload'>;
  schedule: Schedule;
  log: Log;
  /** Told of the connections that there are, whenever they may have changed. */
  onConnections?(connections: readonly OpenConnection[]): void;
  /** Told when requests see another snapshot; a change is in force everywhere once that has ended. */
  onChange(before: Snapshot, after: Snapshot): void | Promise<void>;
}

interface SnapshotsInput extends Omit<SettingsInput, 'limits' | 'store'> {
  store: Store;
  ledger: Pick<Awaited<ReturnType<typeof openLedger>>, 'flush'>;
  /** Where several gateways share their limits. */
  shared: OpenShared | null;
  /** Told of a threshold that a budget has reached. */
  onBudget(event: BudgetEvent): void;
}

/** The snapshot that requests see, with the budgets and limits that are in force with it. */
export async function openSnapshots(input: SnapshotsInput) {
  const opened: { snapshots: Snapshots | null } = { snapshots: null };
  const limits = limitsOf(input, () => opened.snapshots?.current() ?? null);
  opened.snapshots = await followSettings({ ...input, limits });
  return { ...opened.snapshots, limits };
}

export interface Snapshots {
  current(): Snapshot;
  /** Reads the settings anew. @returns the revision that is in force then */
  reload(): Promise<number>;
  close(): void;
}

/** Rebuilds the snapshot soon after any process changed what it holds. A failed rebuild keeps the old one. */
export async function followSettings(input: SettingsInput): Promise<Snapshots> {
  const { aliases, combos, config, connections, keys, limits, log, schedule, store } = input;
  const catalog = currentCatalog({ dataDir: config.dataDir, overrides: config.prices });
  const readKeys = keyReader(keys, input.keyPages);
  const load = async (): Promise<Snapshot> => {
    const revision = store.revision();
    const open = await connections.listOpen();
    input.onConnections?.(open);
    await limits.reload();
    return buildSnapshot({
      keys: await readKeys(),
      connections: open,
      catalog: catalog(),
      revision,
      combos: await combos.list(),
      aliases: await aliases.list(),
      agents: await input.agentModels(),
    });
  };
  let snapshot = await load();
  let turn: Promise<unknown> = Promise.resolve();
  // One after the other, so that none puts an older state in a newer one's place.
  const reload = (): Promise<number> => {
    const loaded = turn.then(load).then(async (next) => {
      const before = snapshot;
      snapshot = next;
      await input.onChange(before, next);
      return next.revision;
    });
    turn = loaded.catch(() => {});
    return loaded;
  };
  let failing = false;
  const close = schedule.every({
    name: 'changed settings',
    everyMs: REVISION_POLL_MS,
    async run() {
      if (store.revision() === snapshot.revision) return;
      await reload();
      if (failing) log.info('changed settings are read again, and in force');
      failing = false;
    },
    onError(error) {
      // It is tried again twice a second.
      if (!failing)
        log.error(
          { error: describe(error) },
          'changed settings cannot be read; the earlier ones stay in force',
        );
      failing = true;
    },
  });
  return { current: () => snapshot, reload, close };
}

/** What the ledger has of whatever a budget is about. */
export function usedBy({ kind, reading }: Pick<Store, 'reading' | 'kind'>): LimitsInput['used'] {
  // There may be millions of requests since a month began.
  const ledger = { db: reading, kind };
  return ({ scope, subject, ...query }) => {
    const tag = tagOf({ scope, subject });
    if (tag !== null) return budgetUsageParts(ledger, { ...query, only: { tag } });
    const only = subject === null || scope === 'global' ? {} : { [`${scope}_id`]: subject };
    return budgetUsageParts(ledger, { ...query, only });
  };
}

/** Limits that are shared through Redis, where that is configured. */
export async function sharedLimits(
  { redis }: Pick<Config, 'redis'>,
  store: Pick<Store, 'db' | 'insertMany' | 'node'>,
  schedule: Schedule,
  log: Log,
  onSharing: (reason: string | null, failureMode: 'refuse' | 'local') => void,
): Promise<OpenShared | null> {
  if (redis !== null)
    return openShared({
      redis,
      store,
      log,
      schedule,
      newId: () => randomText(12),
      onSharing: (reason) => onSharing(reason, redis.failureMode),
    });
  await leaseStore(store).forgetAll();
  return null;
}

/** The budgets and limits of a store; the ledger says what was used before. */
function limitsOf(
  { ledger, log, onBudget, shared, store }: SnapshotsInput,
  snapshot: () => Snapshot | null,
): OpenLimits {
  const used = usedBy(store);
  return openLimits({
    log,
    store,
    shared,
    onEvent: onBudget,
    now: Date.now,
    nameOf(scope, subject) {
      const current = snapshot();
      if (current === null) return null;
      const { keys, routes } = current;
      if (scope === 'combo') return routes.combos.records.find(({ id }) => id === subject)?.name ?? null;
      if (scope === 'connection') return routes.byName.get(subject)?.connection.name ?? null;
      if (scope !== 'key') return subject;
      return keys.byId.get(subject)?.name ?? null;
    },
    async used(query) {
      await ledger.flush();
      return used(query);
    },
  });
}
