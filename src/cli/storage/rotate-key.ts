import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createBackup } from '../../backup/create.ts';
import { resealAlerts, resealCredentials } from '../../connections/credentials/reseal.ts';
import {
  createKeyFile,
  deriveKeys,
  readKeyFile,
  type StorageKey,
} from '../../connections/credentials/seal.ts';
import {
  countSealed,
  existingStorageKey,
  nextPath,
  noteKey,
  removeKeyFile,
  settleKeyChange,
} from '../../connections/credentials/storage-key.ts';
import { GatewayError } from '../../lib/error.ts';
import { resealResponses } from '../../responses/reseal.ts';
import type { Store } from '../../store/database.ts';
import { acquireDataDir, type Owner } from '../../store/lock.ts';
import { refuseUnfinishedMove } from '../../store/move/move.ts';
import { openStoreAt } from '../../store/open.ts';
import { refuseRunningNodes } from '../../store/running-nodes.ts';
import { refuseWaitingRecords } from './waiting-records.ts';

export interface RotateInput {
  dataDir: string;
  /** DATABASE_URL; null where the database is in the data directory. */
  database: string | null;
  /** STORAGE_ENCRYPTION_KEY: the new key, and the one that the gateway uses from then on. Null: one is made in `storage.key`. */
  secret: string | null;
  /** STORAGE_ENCRYPTION_KEY_OLD: the key until now. Null: the one in `storage.key`. */
  oldSecret: string | null;
  version: string;
  /** Milliseconds since the epoch. */
  now: number;
  owner(): Owner | null;
  /** Told before each step. What it throws ends the change. */
  progress(step: RotationStep): void | Promise<void>;
}

export type RotationStep = 'backup' | 'key' | 'encrypt' | 'commit' | 'place' | 'done';

export interface KeyRotation {
  /** Where the new key is. */
  source: 'environment' | 'file';
  credentials: number;
  responses: number;
  /** The backup from before, which needs the old key. */
  backup: string;
}

/**
 * Encrypts all that is stored encrypted with a new key, while no gateway runs. The old key stays in its place until all
 * of it is on the disk, in one transaction that also says which key it is; a change that is cut off at any point leaves
 * a data directory in which one of the two opens everything, and the next start detects which. Gateways that share a
 * database on a server all need the new key then.
 * @throws GatewayError when a gateway runs, records wait on the disk for a database on a server, or the old key does not open every
 *   credential; nothing is changed then
 */
export async function rotateStorageKey(input: RotateInput): Promise<KeyRotation> {
  const { database, dataDir, now, owner, progress, version } = input;
  const lock = await acquireDataDir(dataDir, owner);
  try {
    // What they hold is encrypted with the old key.
    if (database !== null) refuseWaitingRecords(dataDir, 'so that they are encrypted anew too');
    const store = await openStoreAt(input, { create: false, follow: false, now: () => now });
    try {
      await refuseUnfinishedMove(store);
      await refuseRunning(store, store.db, now);
      await settleKeyChange(store, dataDir);
      const from = await oldKey(store, input);
      await progress('backup');
      const { path: backup } = await createBackup({
        dataDir,
        database,
        output: null,
        storageKey: from,
        includeKey: false,
        version,
        now,
      });
      await progress('key');
      const to = newKey(input, from);
      const counts = await encrypt(store, from, to, input).finally(() => settleKeyChange(store, dataDir));
      if (to.source === 'environment') removeKeyFile(dataDir);
      await progress('done');
      return { source: to.source === 'environment' ? 'environment' : 'file', ...counts, backup };
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}

async function refuseRunning(store: Store, db: Store['db'], now: number): Promise<void> {
  if (store.kind === 'postgres') await refuseRunningNodes(db, store.server.place, now);
}

async function oldKey(store: Store, { dataDir, oldSecret, secret }: RotateInput): Promise<StorageKey> {
  const from = await existingStorageKey(store, { dataDir, secret: oldSecret });
  if (from.source === 'missing' && (await countSealed(store)) > 0)
    throw new GatewayError(
      'invalid_request',
      `The key that the credentials are encrypted with is not known: set STORAGE_ENCRYPTION_KEY_OLD to it, or put ${join(dataDir, 'storage.key')} back`,
      { param: 'STORAGE_ENCRYPTION_KEY_OLD' },
    );
  if (secret !== null && deriveKeys(secret).responses.name === from.responses.name)
    throw new GatewayError(
      'invalid_request',
      'STORAGE_ENCRYPTION_KEY is still the current key: set it to the new one, made with `openssl rand -base64 32`',
      { param: 'STORAGE_ENCRYPTION_KEY' },
    );
  return from;
}

/** A key of the file is on the disk before anything is encrypted with it, beside the old one. */
function newKey({ dataDir, secret }: RotateInput, from: StorageKey): StorageKey {
  if (secret !== null) return { ...deriveKeys(secret), source: 'environment' };
  const path = nextPath(dataDir);
  createKeyFile(path, `${randomBytes(32).toString('base64url')}\n`);
  const keyFile = readKeyFile(path);
  if (keyFile === null || deriveKeys(keyFile).responses.name === from.responses.name)
    throw new GatewayError('internal_error', `${path} was not written as it should be: begin again`);
  return { ...deriveKeys(keyFile), source: 'file' };
}

async function encrypt(
  store: Store,
  from: StorageKey,
  to: StorageKey,
  { now, progress }: Pick<RotateInput, 'now' | 'progress'>,
): Promise<Pick<KeyRotation, 'credentials' | 'responses'>> {
  await progress('encrypt');
  // The old key may go once this is on the disk, not once it is on its way there.
  if (store.kind === 'sqlite') await sql.raw('pragma synchronous = full').execute(store.db);
  const counts = await store.db.transaction().execute(async (trx) => {
    if (store.kind === 'postgres') await sql.raw('set local synchronous_commit = on').execute(trx);
    // A gateway that starts now waits to make its entry, and then finds that the key is another one.
    await refuseRunning(store, trx, now);
    const { credentials, unreadable } = await resealCredentials(trx, from.key, to.key);
    if (unreadable.length > 0)
      throw new GatewayError(
        'conflict',
        `The old key does not open the credentials of ${unreadable.join(', ')}: set STORAGE_ENCRYPTION_KEY_OLD to the key that does, or remove these connections. Nothing was changed`,
      );
    const alerts = await resealAlerts(trx, from.key, to.key);
    if (alerts.length > 0)
      throw new GatewayError(
        'conflict',
        `The old key does not open the alerts ${alerts.join(', ')}: set STORAGE_ENCRYPTION_KEY_OLD to the key that does, or remove these alerts. Nothing was changed`,
      );
    const responses = await resealResponses(trx, from.responses, to.responses);
    // Their keys are derived from the old one, and cannot be compared with those of earlier requests.
    await trx.deleteFrom('idempotency').execute();
    await noteKey(trx, to.responses.name);
    await progress('commit');
    return { credentials, responses };
  });
  // What the old key opens must not stay readable in the log either.
  if (store.kind === 'sqlite') await sql.raw('pragma wal_checkpoint(truncate)').execute(store.db);
  await progress('place');
  return counts;
}
