import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../store/tables.ts';

/** Requests that are looked at, the latest first: a few for the first page, at last too many to go on. */
const steps = [1_000, 8_000] as const;

/**
 * The keys that were used last, at least so many, by the latest requests: a step into the index by key for each of 100,000 keys takes longer.
 * Null where more requests would have to be looked at than is worth it.
 */
export async function latestUsedKeys(db: Kysely<Tables>, count: number): Promise<string[] | null> {
  for (const most of steps) {
    const rows = await db
      .selectFrom('requests')
      .select(['key_id', 'started_at'])
      .orderBy('started_at', 'desc')
      .limit(most)
      .execute();
    const isAll = rows.length < most;
    // Of the earliest moment there may be more.
    const earliest = isAll ? Number.NEGATIVE_INFINITY : (rows.at(-1)?.started_at ?? 0);
    const ids = new Set(rows.filter((row) => row.started_at > earliest).map((row) => row.key_id));
    if (ids.size >= count) {
      // Some may have been removed since.
      const { rows: keys } = await sql<{ id: string }>`select id from keys
        where id in (select value from json_each(${JSON.stringify([...ids])}))`.execute(db);
      if (keys.length >= count) return keys.map(({ id }) => id);
    }
    if (isAll) return null;
  }
  return null;
}
