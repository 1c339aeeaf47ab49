import type { Store } from '../store/database.ts';
import type { Writer } from '../store/writer.ts';
import { createLruCache } from './lru-cache.ts';

/** Where a response is that its provider keeps: nothing of what it says. */
export interface ResponsePlace {
  id: string;
  /** The gateway key that asked; for no other it is there. */
  keyId: string;
  connectionId: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** The request that made it, as the ledger names it; null where that was not recorded. */
  requestId: string | null;
  /** As the client named it; null where an earlier version did not note it. */
  model: string | null;
}

/** What the gateway remembers of responses that providers keep. */
export interface ResponsePlaces {
  note(place: ResponsePlace): void;
  /** `foreign` for one that another key made; null for one that the gateway has not seen. */
  find(id: string, keyId: string): Promise<ResponsePlace | 'foreign' | null>;
  forget(id: string, keyId: string): Promise<void>;
}

export interface PlaceStore extends ResponsePlaces {
  /** Deletes those that have expired or are too many. */
  sweep(): Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** For how long the vendors keep them (OpenAI API reference, `store`). */
const KEPT_DAYS = 30;
const MAX_RECENT = 10_000;
/** Rows of some 150 bytes. */
const MAX_STORED = 200_000;

const columns = ['id', 'key_id', 'connection_id', 'created_at', 'request_id', 'model'] as const;

export interface PlaceStoreOptions {
  /** False: memory alone has them. */
  stored: boolean;
  /** Milliseconds since the epoch. */
  now?: () => number;
  maxStored?: number;
}

/** Reads ask memory first; writes go through the writer and make no request wait. */
export function placeStore(
  { db }: Pick<Store, 'db'>,
  writer: Pick<Writer, 'push' | 'flush'>,
  { maxStored = MAX_STORED, now = Date.now, stored }: PlaceStoreOptions,
): PlaceStore {
  const recent = createLruCache<ResponsePlace>(MAX_RECENT, () => 1);

  const load = async (id: string, keyId: string): Promise<ResponsePlace | null> => {
    const rows = await db.selectFrom('response_places').selectAll().where('id', '=', id).execute();
    const row = rows.find(({ key_id }) => key_id === keyId) ?? rows[0];
    if (row === undefined) return null;
    const { connection_id: connectionId, created_at: createdAt, key_id, model, request_id: requestId } = row;
    return { id, keyId: key_id, connectionId, createdAt, requestId, model };
  };
  return {
    note(place) {
      recent.set(place.id, place);
      const { connectionId, createdAt, id, keyId, model, requestId } = place;
      const row = [id, keyId, connectionId, createdAt, requestId, model];
      if (stored) writer.push('response_places', columns, row);
    },
    async find(id, keyId) {
      const existing = recent.get(id);
      const place = existing?.keyId === keyId ? existing : ((await load(id, keyId)) ?? existing ?? null);
      if (place === null || place.createdAt < now() - KEPT_DAYS * DAY_MS) return null;
      if (place.keyId !== keyId) return 'foreign';
      recent.set(id, place);
      return place;
    },
    async forget(id, keyId) {
      // It may still be on its way to the database, where it would come back.
      await writer.flush();
      recent.delete(id);
      await db.deleteFrom('response_places').where('id', '=', id).where('key_id', '=', keyId).execute();
    },
    async sweep() {
      const before = stored ? now() - KEPT_DAYS * DAY_MS : now() + 1;
      await db.deleteFrom('response_places').where('created_at', '<', before).execute();
      const last = await db
        .selectFrom('response_places')
        .select('created_at')
        .orderBy('created_at', 'desc')
        .offset(maxStored)
        .limit(1)
        .executeTakeFirst();
      if (last !== undefined)
        await db.deleteFrom('response_places').where('created_at', '<=', last.created_at).execute();
    },
  };
}
