import type { Selectable } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import type { ResponseTable } from '../store/tables.ts';
import type { Writer } from '../store/writer.ts';
import { createRecent } from './recent.ts';
import type { FoundResponse, ResponseMemory, StoredResponse } from './stored.ts';

/** As long as OpenAI keeps them by default (API reference, `store`). */
export const RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
/** Of all stored responses together, in characters of JSON. The oldest go first. */
const MAX_STORED = 1024 ** 3;
/** Of those that are found without asking the database: enough for what is being talked about just now. */
const MAX_RECENT = 16 * 1024 ** 2;
/** Rows deleted at once, so that no request waits long for it. */
const SWEPT_ROWS = 50;

type Row = Selectable<ResponseTable>;

/** One array, for the writer batches rows by it. */
const columns: readonly (keyof Row)[] = [
  'id', 'created_at', 'key_id', 'connection_id', 'model', 'previous_id', 'bytes', 'input', 'response',
]; // biome-ignore format: a list

export interface ResponseStoreOptions {
  /** Milliseconds since the epoch. */
  now?: () => number;
  maxStored?: number;
  maxRecent?: number;
}

export interface ResponseStore extends ResponseMemory {
  /** Deletes what has expired or is beyond the bound. @returns how many */
  sweep(): Promise<number>;
}

/** The stored responses. Reads ask memory first; writes go through the writer and make no request wait. */
export function responseStore(
  { db }: Pick<Store, 'db'>,
  writer: Pick<Writer, 'push' | 'flush'>,
  { maxRecent = MAX_RECENT, maxStored = MAX_STORED, now = Date.now }: ResponseStoreOptions = {},
): ResponseStore {
  const recent = createRecent<Row>(maxRecent, ({ bytes }) => bytes);

  const find = async (id: string, keyId: string): Promise<Row | undefined> => {
    const name = nameOf(id, keyId);
    const known = recent.get(name);
    if (known !== undefined) return known;
    const row = await db
      .selectFrom('responses')
      .selectAll()
      .where('id', '=', id)
      .where('key_id', '=', keyId)
      .executeTakeFirst();
    if (row !== undefined) recent.set(name, row);
    return row;
  };
  const get = async (id: string, keyId: string): Promise<FoundResponse | null> => {
    const row = await find(id, keyId);
    if (row === undefined || row.created_at < now() - RETENTION_MS) return null;
    return { ...storedOf(row), length: row.bytes };
  };

  return {
    get,
    put(stored) {
      const row = rowOf(stored);
      recent.set(nameOf(stored.id, stored.keyId), row);
      writer.push(
        'responses',
        columns,
        columns.map((column) => row[column]),
      );
    },
    async remove(id, keyId) {
      if ((await get(id, keyId)) === null) return false;
      // It may still be on its way to the disk, where it would come back.
      if (!writer.flush())
        throw new GatewayError('internal_error', 'The database is busy: send the request again');
      recent.delete(nameOf(id, keyId));
      await db.deleteFrom('responses').where('id', '=', id).where('key_id', '=', keyId).execute();
      return true;
    },
    async sweep() {
      let deleted = 0;
      for (;;) {
        const rows = await surplus(db, { before: now() - RETENTION_MS, maxStored });
        if (rows.length === 0) return deleted;
        for (const { id, key_id } of rows) {
          recent.delete(nameOf(id, key_id));
          await db.deleteFrom('responses').where('id', '=', id).where('key_id', '=', key_id).execute();
        }
        deleted += rows.length;
        await new Promise((resolve) => setImmediate(resolve));
      }
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
  const gone: Pick<Row, 'id' | 'key_id'>[] = [];
  for (const { bytes, created_at, id, key_id } of oldest) {
    if (created_at >= before && over <= 0) break;
    gone.push({ id, key_id });
    over -= bytes;
  }
  return gone;
}

function rowOf(stored: StoredResponse): Row {
  const input = JSON.stringify(stored.input);
  const response = JSON.stringify(stored.response);
  return {
    id: stored.id,
    created_at: stored.createdAt,
    key_id: stored.keyId,
    connection_id: stored.connectionId,
    model: stored.model,
    previous_id: stored.previousId,
    bytes: input.length + response.length,
    input,
    response,
  };
}

function storedOf(row: Row): StoredResponse {
  return {
    id: row.id,
    createdAt: row.created_at,
    keyId: row.key_id,
    connectionId: row.connection_id,
    model: row.model,
    previousId: row.previous_id,
    input: JSON.parse(row.input) as unknown[],
    response: JSON.parse(row.response) as StoredResponse['response'],
  };
}
