import { createHash, hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import {
  chmod,
  link,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type StorageKey, seal } from '../connections/credentials/seal.ts';
import { GatewayError } from '../lib/error.ts';
import { makeFolder } from '../lib/files/folder.ts';
import { databasePath } from '../store/database.ts';
import { unpackBackup } from './read.ts';
import type { Manifest, Member, MemberName } from './schema.ts';
import { schemaOf, snapshotDatabase } from './snapshot.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

/** What the text of a key's check is bound to. */
export const KEY_CHECK = 'modelgate backup';

export interface BackupInput {
  dataDir: string;
  /** DATABASE_URL; null where the database is in the data directory. */
  database: string | null;
  /** Where it goes; null for the folder of backups. */
  output: string | null;
  storageKey: Pick<StorageKey, 'key' | 'source'>;
  /** Whether `storage.key` goes in. A key from the environment never does. */
  includeKey: boolean;
  version: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Called with how far it is, from 0 to 1, and what is done just now. */
  progress?: Progress;
  /** Ends it; nothing is left of it then. */
  signal?: AbortSignal;
}

export type Progress = (done: number, doing: string) => void;

export interface CreatedBackup {
  path: string;
  bytes: number;
  manifest: Manifest;
}

export function backupFolder(dataDir: string): string {
  return join(dataDir, 'backups');
}

/** What a backup is called that is begun at a time. */
export function backupName(now: number): string {
  return `modelgate-${new Date(now).toISOString().replace(/[:.]/g, '-')}.tar.gz`;
}

/**
 * Makes a backup of the configuration and the database while a gateway may be running, reads it back, and only then
 * gives it its name. It is readable by its owner only, and overwrites nothing. A database on a server becomes the same file as one in
 * the data directory.
 * @throws GatewayError when there is nothing to back up, the database is damaged, or the output exists; and the reason of the signal
 */
export async function createBackup(input: BackupInput): Promise<CreatedBackup> {
  const { dataDir, now, progress = () => {}, signal } = input;
  const folder = backupFolder(dataDir);
  const path = input.output ?? join(folder, backupName(now));
  await refuseExisting(path);
  makeFolder(folder);
  await removeLeftOver(folder, now);
  const work = await mkdtemp(join(folder, '.making-'));
  const partial = `${path}.partial`;
  try {
    const manifest = await gather(input, work);
    await refuseExisting(partial);
    await pipeline(
      counted(packed(manifest, work, now), manifest, progress),
      createGzip(),
      createWriteStream(partial, { mode: 0o600, flags: 'wx' }),
      signal === undefined ? {} : { signal },
    );
    progress(READING_BACK, 'Reading it back');
    await unpackBackup(partial, null);
    await synced(partial);
    await named(partial, path);
    return { path, bytes: (await stat(path)).size, manifest };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('internal_error', `The backup ${path} could not be made: ${String(error)}`, {
      cause: error,
    });
  } finally {
    await rm(work, { recursive: true, force: true });
    await rm(partial, { force: true });
  }
}

/** How far it is when the copy is made, and when it is packed. */
const PACKING = 0.4;
const READING_BACK = 0.8;

/** Passes on what is packed, and reports how much of it has passed. */
async function* counted(
  pieces: AsyncIterable<Buffer>,
  { members }: Manifest,
  progress: Progress,
): AsyncGenerator<Buffer> {
  const whole = members.reduce((sum, { bytes }) => sum + bytes, 1);
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    progress(PACKING + (READING_BACK - PACKING) * Math.min(1, bytes / whole), 'Packing');
    yield piece;
  }
}

const LEFT_OVER_MS = 24 * 3_600_000;

/** What a backup left that was killed. One that is running just now is younger. */
async function removeLeftOver(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('.making-')) continue;
    const stats = await stat(join(folder, name)).catch(() => null);
    if (stats !== null && now - stats.mtimeMs > LEFT_OVER_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Copies what goes into the backup to `work`, and says what it is. */
async function gather(input: BackupInput, work: string): Promise<Manifest> {
  const { dataDir, includeKey, now, signal, storageKey, version } = input;
  await copyDatabase(input, work);
  signal?.throwIfAborted();
  const copy = databasePath(work);
  const included = includeKey && storageKey.source !== 'environment';
  const others: MemberName[] = [
    'config.json',
    'events.yaml',
    ...(included ? (['storage.key'] as const) : []),
  ];
  const members = [await memberOf('modelgate.db', copy)];
  for (const name of others) {
    const bytes = await readIfThere(join(dataDir, name));
    if (bytes === null) continue;
    await writeFile(join(work, name), bytes, { mode: 0o600 });
    members.push({ name, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') });
  }
  return {
    format: 1,
    created_at: new Date(now).toISOString(),
    modelgate: version,
    schema: schemaOf(copy),
    key: {
      source: storageKey.source === 'environment' ? 'environment' : 'file',
      included: members.some(({ name }) => name === 'storage.key'),
      check: storageKey.source === 'missing' ? '' : seal(storageKey.key, KEY_CHECK, KEY_CHECK),
    },
    members,
  };
}

async function copyDatabase(
  { database, dataDir, progress = () => {}, signal }: BackupInput,
  work: string,
): Promise<void> {
  const report = (done: number) => progress(PACKING * done, 'Copying the database');
  report(0);
  if (database !== null) {
    // Loaded only where it is used: a start must not wait for it.
    const { copyServer } = await import('./copy-server.ts');
    return copyServer({ url: database, dataDir, folder: work, signal, progress: report });
  }
  const path = databasePath(dataDir);
  if (!(await exists(path)))
    throw new GatewayError('not_found', `There is no database at ${path}, so nothing to back up`);
  await snapshotDatabase(path, databasePath(work), report);
}

async function memberOf(name: MemberName, path: string): Promise<Member> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return { name, bytes, sha256: digest.digest('hex') };
}

async function* packed(manifest: Manifest, work: string, now: number): AsyncGenerator<Buffer> {
  const seconds = Math.floor(now / 1000);
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  yield tarHeader('manifest.json', text.length, seconds);
  yield text;
  yield tarPadding(text.length);
  for (const { bytes, name } of manifest.members) {
    yield tarHeader(name, bytes, seconds);
    yield* createReadStream(join(work, name)) as AsyncIterable<Buffer>;
    yield tarPadding(bytes);
  }
  yield tarEnd();
}

async function synced(path: string): Promise<void> {
  await chmod(path, 0o600);
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Gives a file its name unless another one has it. */
async function named(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw existing(path);
    // A file system without hard links.
    await refuseExisting(path);
    await rename(partial, path);
  }
}

async function refuseExisting(path: string): Promise<void> {
  if (await exists(path)) throw existing(path);
  if (!(await exists(dirname(path))) && !dirname(path).endsWith('backups'))
    throw new GatewayError('invalid_request', `There is no folder ${dirname(path)}`, { param: 'output' });
}

function existing(path: string): GatewayError {
  return new GatewayError(
    'conflict',
    `${path} exists already, and no backup overwrites anything: choose another name`,
  );
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}
