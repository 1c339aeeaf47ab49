import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../lib/error.ts';
import type { Store } from '../../store/database.ts';
import { deriveKeys, missingKey, readKeyFile, type StorageKey, storageKey } from './seal.ts';

export interface StorageKeyInput {
  dataDir: string;
  /** STORAGE_ENCRYPTION_KEY, where it is set. */
  secret: string | null;
}

/** The name of the setting that says which key the database is encrypted with, since the first change of the key. */
const SETTING = 'storage_key';

const pathOf = (dataDir: string) => join(dataDir, 'storage.key');
/** A new key that is not in its place yet. */
export const nextPath = (dataDir: string) => join(dataDir, 'storage.key.next');

/**
 * The storage key where there is one; nothing is made and nothing changed. A change of the key may have been cut off: the
 * database says whether it came so far that the next key is the right one.
 * @param store null where there is no database yet
 * @throws GatewayError when a file cannot be read or is empty
 */
export async function existingStorageKey(
  store: Pick<Store, 'db'> | null,
  { dataDir, secret }: StorageKeyInput,
): Promise<StorageKey> {
  if (secret !== null) return { ...deriveKeys(secret), source: 'environment' };
  const text = (await committedNext(store, dataDir)) ?? readKeyFile(pathOf(dataDir));
  return text === null ? missingKey() : { ...deriveKeys(text), source: 'file' };
}

/**
 * The storage key for one who is about to encrypt something. Where there is none it is made, but never in the place of
 * one that is gone: what a lost key has encrypted could not be opened any more once it is found again.
 */
export async function usableStorageKey(
  store: Pick<Store, 'db' | 'kind'>,
  input: StorageKeyInput,
): Promise<StorageKey> {
  const existing = await existingStorageKey(store, input);
  if (store.kind === 'postgres') return agreedKey(store.db, existing);
  if (existing.source !== 'missing' || (await countSealed(store)) > 0) return existing;
  return storageKey(input.dataDir, null);
}

/** Of the gateways that share a database each must have the same key, so none makes one for itself. */
async function agreedKey(db: Store['db'], key: StorageKey): Promise<StorageKey> {
  if (key.source === 'missing')
    throw new GatewayError(
      'invalid_request',
      'DATABASE_URL needs STORAGE_ENCRYPTION_KEY, the same for every gateway and command: make one with `openssl rand -base64 32`',
      { param: 'STORAGE_ENCRYPTION_KEY' },
    );
  const { name } = key.responses;
  await db
    .insertInto('settings')
    .values({ name: SETTING, value: name })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const row = await db.selectFrom('settings').select('value').where('name', '=', SETTING).executeTakeFirst();
  if (row?.value === name) return key;
  throw new GatewayError(
    'invalid_request',
    'STORAGE_ENCRYPTION_KEY is not the key that the database is encrypted with: set it to that of the other gateways',
    { param: 'STORAGE_ENCRYPTION_KEY' },
  );
}

/** How many credentials and targets of alerts are stored. */
export async function countSealed({ db }: Pick<Store, 'db'>): Promise<number> {
  const connections = await db
    .selectFrom('connections')
    .select(({ fn }) => fn.count<number>('credential').as('sealed'))
    .executeTakeFirst();
  const alerts = await db
    .selectFrom('alerts')
    .select(({ fn }) => fn.count<number>('target').as('sealed'))
    .executeTakeFirst();
  return Number(connections?.sealed ?? 0) + Number(alerts?.sealed ?? 0);
}

/** The next key, where the database is encrypted with it already. */
async function committedNext(store: Pick<Store, 'db'> | null, dataDir: string): Promise<string | null> {
  if (store === null || !existsSync(nextPath(dataDir))) return null;
  const next = readKeyFile(nextPath(dataDir));
  const row = await store.db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', SETTING)
    .executeTakeFirst();
  return next !== null && row?.value === deriveKeys(next).responses.name ? next : null;
}

/** Says in the database, with what else is changed in `db`, which key it is encrypted with. */
export async function noteKey(db: Store['db'], name: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name: SETTING, value: name })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: name }))
    .execute();
}

/**
 * Ends a change of the key that was cut off: forward where the database has the next key, else back. Only for the owner
 * of the data directory's lock.
 */
export async function settleKeyChange(store: Pick<Store, 'db'>, dataDir: string): Promise<void> {
  const next = nextPath(dataDir);
  if (!existsSync(next)) return;
  // In a transaction that waits for others: a server may still be ending the one of the change, whose connection was lost.
  const committed = await store.db.transaction().execute((db) => committedNext({ db }, dataDir));
  if (committed === null) rmSync(next);
  else renameSync(next, pathOf(dataDir));
  syncFolder(dataDir);
}

/** Takes away a key file that the database is not encrypted with any more. */
export function removeKeyFile(dataDir: string): void {
  rmSync(pathOf(dataDir), { force: true });
  syncFolder(dataDir);
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
