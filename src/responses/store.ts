import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import type { Writer } from '../store/writer.ts';
import { createLruCache } from './lru-cache.ts';
import {
  type Content,
  columns,
  contentOf,
  type ResponseEncryption,
  type Row,
  responseFromContent,
} from './row.ts';
import type { Lookup, ResponseMemory } from './stored.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** For how long memory may show one where nothing is stored. */
const MEMORY_DAYS = 30;
/** Of those that are found without asking the database: enough for what is being talked about just now. */
const MAX_RECENT = 16 * 1024 ** 2;
/** Rows deleted at once, so that no request waits long for it. */
const SWEPT_ROWS = 50;

export interface ResponseStoreOptions {
  sealing: ResponseEncryption;
  /** 0 stores nothing: memory alone has them, while there is room. */
  retentionDays: number;
  /** Of all stored responses together, in characters of JSON. The oldest go first. */
  maxBytes: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
  maxRecent?: number;
}

export interface ResponseStore extends ResponseMemory {
  /**
   * Deletes what has expired or is beyond the bound, and encrypts what an earlier version left unencrypted. @returns
   * how many it deleted
   */
  sweep(): Promise<number>;
}

/** The stored responses. Reads ask memory first; writes go through the writer and make no request wait. */
export function responseStore(
  { db }: Pick<Store, 'db'>,
  writer: Pick<Writer, 'push' | 'flush'>,
  { maxBytes, maxRecent = MAX_RECENT, now = Date.now, retentionDays, sealing }: ResponseStoreOptions,
): ResponseStore {
  const recent = createLruCache<Content>(maxRecent, ({ length }) => length);
  const shownMs = (retentionDays || MEMORY_DAYS) * DAY_MS;

  const find = async (id: string, keyId: string) => {
    const name = nameOf(id, keyId);
    const existing = recent.get(name);
    if (existing !== undefined) return existing;
    const row = await db
      .selectFrom('responses')
      .selectAll()
      .where('id', '=', id)
      .where('key_id', '=', keyId)
      .executeTakeFirst();
    if (row === undefined) return null;
    const opened = sealing.open(row);
    if (opened === null) return 'unreadable' as const;
    recent.set(name, opened);
    return opened;
  };
  const get = async (id: string, keyId: string): Promise<Lookup> => {
    const response = await find(id, keyId);
    if (response === null || response === 'unreadable') return response;
    return response.createdAt < now() - shownMs ? null : responseFromContent(response);
  };

  return {
    get,
    put(stored) {
      const content = contentOf(stored);
      recent.set(nameOf(stored.id, stored.keyId), content);
      if (retentionDays === 0) return;
      const row = sealing.seal(content);
      writer.push(
        'responses',
        columns,
        columns.map((column) => row[column]),
      );
    },
    async remove(id, keyId) {
      if ((await get(id, keyId)) === null) return false;
      // It may still be on its way to the database, where it would come back.
      if (!(await writer.flush()))
        throw new GatewayError('internal_error', 'The database is busy: send the request again');
      recent.delete(nameOf(id, keyId));
      await db.deleteFrom('responses').where('id', '=', id).where('key_id', '=', keyId).execute();
      return true;
    },
    async sweep() {
      let deleted = 0;
      for (;;) {
        const rows = await surplus(db, { before: now() - retentionDays * DAY_MS, maxStored: maxBytes });
        if (rows.length === 0) break;
        for (const { id, key_id } of rows) {
          recent.delete(nameOf(id, key_id));
          await db.deleteFrom('responses').where('id', '=', id).where('key_id', '=', key_id).execute();
        }
        deleted += rows.length;
        await new Promise((resolve) => setImmediate(resolve));
      }
      while ((await sealSome(db, sealing)) > 0) await new Promise((resolve) => setImmediate(resolve));
      return deleted;
    },
  };
}

/** What a response is called in memory. Keys have no spaces in their ids. */
function nameOf(id: string, keyId: string): string {
  return `${keyId} ${id}`;
}

interface Bounds {
  /** Milliseconds since the epoch: what is older has expired. */
  before: number;
  maxStored: number;
}

/** The oldest rows that must go, some at a time. */
async function surplus(
  db: Store['db'],
  { before, maxStored }: Bounds,
): Promise<Pick<Row, 'id' | 'key_id'>[]> {
  const sum = await db
    .selectFrom('responses')
    .select(({ fn }) => fn.sum<number | null>('bytes').as('stored'))
    .executeTakeFirst();
  let over = Number(sum?.stored ?? 0) - maxStored;
  const oldest = await db
    .selectFrom('responses')
    .select(['id', 'key_id', 'created_at', 'bytes'])
    .orderBy('created_at')
    .limit(SWEPT_ROWS)
    .execute();
  const removedIds: Pick<Row, 'id' | 'key_id'>[] = [];
  for (const { bytes, created_at, id, key_id } of oldest) {
    if (created_at >= before && over <= 0) break;
    removedIds.push({ id, key_id });
    over -= bytes;
  }
  return removedIds;
}

/** Seals rows of an earlier version, some at a time. @returns how many */
async function sealSome(db: Store['db'], sealing: ResponseEncryption): Promise<number> {
  const plain = await db
    .selectFrom('responses')
    .selectAll()
    .where('sealed_with', 'is', null)
    .limit(SWEPT_ROWS)
    .execute();
  let sealedRows = 0;
  for (const row of plain) {
    const opened = sealing.open(row);
    if (opened === null) continue;
    sealedRows += 1;
    const { input, response, sealed, sealed_with } = sealing.seal(opened);
    await db
      .updateTable('responses')
      .set({ input, response, sealed, sealed_with })
      .where('id', '=', row.id)
      .where('key_id', '=', row.key_id)
      .execute();
  }
  return sealedRows;
}
