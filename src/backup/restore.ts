import { chmod, constants, copyFile, link, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { storageKey as storageKeyOf, open as unseal } from '../connections/credentials/seal.ts';
import { GatewayError } from '../lib/error.ts';
import { makeFolder } from '../lib/files/folder.ts';
import { databasePath, openStore } from '../store/database.ts';
import { acquireDataDir, type Owner } from '../store/lock.ts';
import { openDatabase } from '../store/sqlite.ts';
import { backupFolder, exists, KEY_CHECK } from './create.ts';
import { unpackBackup } from './read.ts';
import type { Manifest, MemberName } from './schema.ts';
import { databaseFault } from './snapshot.ts';

export interface RestoreInput {
  dataDir: string;
  /** DATABASE_URL; null where the database is in the data directory. */
  database: string | null;
  file: string;
  /** STORAGE_ENCRYPTION_KEY, where it is set: it is what the gateway will use. */
  secret: string | null;
  /** Milliseconds since the epoch. */
  now: number;
  owner(): Owner | null;
  /** Called when the backup is proven good, before anything is changed. What it throws ends the restore. */
  onProven(manifest: Manifest): Promise<void>;
  /** Told of each table of a database on a server when it is there and checked, and now and then on the way. */
  progress?(table: string, rows: number, done: boolean): void;
}

export interface RestoredBackup {
  manifest: Manifest;
  /** Where the database is now: a path, or a place on a server. */
  to: string;
  /** The folder that has the files as they were before; null where there were none. */
  previous: string | null;
  /** Whether the credentials of the backup can be decrypted here. */
  keyMatches: boolean;
}

/**
 * Puts a backup in the place of the present state, while no gateway runs. The backup is unpacked, compared with its
 * manifest, opened and brought to this version's schema in a folder of its own before anything is touched, and what was
 * there before is kept. Files that the backup has not stay as they are. Logins that were open then are ended. A database on a server
 * must be empty; a restore into it that is cut off can be repeated.
 * @throws GatewayError when a gateway runs, the backup is damaged or of a newer version, or the server's database is not empty
 */
export async function restoreBackup(input: RestoreInput): Promise<RestoredBackup> {
  const { database, dataDir, file, now, owner } = input;
  makeFolder(dataDir);
  const lock = await acquireDataDir(dataDir, owner);
  await removeLeftOver(dataDir);
  const work = await mkdtemp(join(dataDir, '.restoring-'));
  try {
    const manifest = await unpackBackup(file, work);
    await prove(work, file);
    const key = await keyOf(input, work, manifest);
    const contents = { manifest, keyMatches: key.matches };
    if (database !== null)
      return { ...contents, ...(await restoreOnServer({ ...input, database }, work, manifest, key.name)) };
    await input.onProven(manifest);
    const previous = await keepPrevious(dataDir, now);
    // The database comes last: with the files of the backup and the old database, a restore can be begun again.
    await place(dataDir, work, [...othersOf(manifest), 'modelgate.db']);
    return { ...contents, to: databasePath(dataDir), previous };
  } finally {
    await rm(work, { recursive: true, force: true });
    lock.release();
  }
}

/** What a killed restore left. Nobody else restores while the lock is held. */
async function removeLeftOver(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith('.restoring-')) await rm(join(dataDir, name), { recursive: true, force: true });
}

/** What is in a backup beside the database. */
function othersOf({ members }: Manifest): MemberName[] {
  return members.map(({ name }) => name).filter((name) => name !== 'modelgate.db');
}

/** Puts files of a backup in their places. */
async function place(dataDir: string, work: string, names: readonly MemberName[]): Promise<void> {
  for (const name of names) {
    await rename(join(work, name), join(dataDir, name));
    await chmod(join(dataDir, name), 0o600);
  }
  await syncFolder(dataDir);
}

async function restoreOnServer(
  { onProven, database: url, dataDir, now, progress = () => {} }: RestoreInput & { database: string },
  work: string,
  manifest: Manifest,
  keyName: string | null,
): Promise<Pick<RestoredBackup, 'to' | 'previous'>> {
  // Loaded only where it is used.
  const { fillServer, refuseTarget } = await import('./restore-server.ts');
  const digest = manifest.members.find(({ name }) => name === 'modelgate.db')?.sha256.slice(0, 12);
  const target = { url, dataDir, now, source: `the backup of ${manifest.created_at} (${digest})` };
  const to = await refuseTarget(target);
  await onProven(manifest);
  const previous = await keepFiles(dataDir, now, settingsFiles);
  await place(dataDir, work, othersOf(manifest));
  await fillServer({ ...target, place: to, from: work, keyName, progress });
  return { to, previous };
}

/** Opens the database of the backup as a gateway would, which brings its schema up to date. */
async function prove(work: string, file: string): Promise<void> {
  const path = databasePath(work);
  const fault = databaseFault(path);
  if (fault !== null) throw unusable(file, `its database is damaged: ${fault}`);
  try {
    const store = await openStore(work, { create: false });
    try {
      await store.db.deleteFrom('tokens').where('kind', '!=', 'automation').execute();
    } finally {
      await store.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll(work, 'the backup') : String(error);
    throw unusable(file, reason);
  }
  if (await exists(`${path}-wal`)) throw unusable(file, 'its database could not be closed');
  const again = databaseFault(path);
  if (again !== null) throw unusable(file, `its database did not survive the update of its schema: ${again}`);
}

function unusable(file: string, reason: string): GatewayError {
  return new GatewayError('invalid_request', `${file} cannot be restored: ${reason}. Nothing was changed`, {
    cause: reason,
  });
}

/** Whether the key that will be in force opens what the backup's key has sealed, and the name of that key. */
async function keyOf(
  { dataDir, secret }: RestoreInput,
  work: string,
  { key }: Manifest,
): Promise<{ matches: boolean; name: string | null }> {
  // There was no key when it was made.
  if (key.check === '') return { matches: true, name: null };
  const folder = key.included ? work : dataDir;
  const none = { matches: false, name: null };
  if (secret === null && !(await exists(join(folder, 'storage.key')))) return none;
  const inForce = await storageKeyOf(folder, secret);
  const matches = unseal(inForce.key, key.check, KEY_CHECK) === KEY_CHECK;
  return matches ? { matches, name: inForce.responses.name } : none;
}

const settingsFiles = ['config.json', 'events.yaml', 'storage.key'];
const databaseFiles = ['modelgate.db', 'modelgate.db-wal', 'modelgate.db-shm'];

/** Keeps the present files in a folder of the backups, and each in its place. Null where there are none. */
async function keepPrevious(dataDir: string, now: number): Promise<string | null> {
  await foldLog(dataDir);
  const folder = await keepFiles(dataDir, now, [...databaseFiles, ...settingsFiles]);
  // A log that belongs to the old database must not be taken for one of the new.
  for (const name of ['modelgate.db-wal', 'modelgate.db-shm']) await rm(join(dataDir, name), { force: true });
  return folder;
}

async function keepFiles(dataDir: string, now: number, names: readonly string[]): Promise<string | null> {
  const present: string[] = [];
  for (const name of names) if (await exists(join(dataDir, name))) present.push(name);
  if (present.length === 0) return null;
  const time = new Date(now).toISOString().replace(/[:.]/g, '-');
  makeFolder(backupFolder(dataDir));
  const folder = await mkdtemp(join(backupFolder(dataDir), `replaced-${time}-`));
  for (const name of present) await keep(join(dataDir, name), join(folder, name));
  await syncFolder(folder);
  return folder;
}

/** The database, which may be large and is replaced, gets a second name; what may stay in its place is copied. */
async function keep(from: string, to: string): Promise<void> {
  if (from.endsWith('modelgate.db')) {
    try {
      return await link(from, to);
    } catch {
      // A file system without hard links.
    }
  }
  await copyFile(from, to, constants.COPYFILE_EXCL);
}

/** Folds the log of the present database into it. One that cannot be opened any more is kept with its log as it is. */
async function foldLog(dataDir: string): Promise<void> {
  const path = databasePath(dataDir);
  if (!(await exists(path)) || (await stat(path)).size === 0 || databaseFault(path) !== null) return;
  const database = openDatabase(path);
  let busy: unknown;
  try {
    // No gateway runs, and no other work waits for this thread.
    database.exec('pragma busy_timeout = 2000');
    busy = database.prepare('pragma wal_checkpoint(truncate)').get()?.['busy'];
  } finally {
    database.close();
  }
  if (busy === 0 && !(await exists(`${path}-wal`))) return;
  throw new GatewayError(
    'conflict',
    `Another command is using ${path}: wait until it has ended, and begin again. Nothing was changed`,
  );
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
