import { sql } from 'kysely';
import type { Store } from '../../store/database.ts';

/** Some keys as they are packed (`packed-keys.ts`). */
export interface KeyPage {
  /** A row of each, in JSON, one in a line. */
  rows: string;
  count: number;
  /** The greatest id among them; empty without any. */
  last: string;
}

/** Reads up to `limit` keys whose ids come after `last`, by their ids. */
export type KeyPages = (last: string, limit: number) => Promise<KeyPage>;

/** The columns of a packed key, in this order; `rowOf` (`packed-keys.ts`) writes the same. */
const columns = [
  'hash',
  'id',
  'name',
  'prefix',
  'models',
  'created_at',
  'expires_at',
  'disabled',
  'cache_ttl_seconds',
  'owner',
  'team',
  'labels',
] as const;

/** The keys of a store, a page in one text: an object for each row would take ten times as long. */
export function keyPages({ db, kind }: Pick<Store, 'db' | 'kind'>): KeyPages {
  const values = sql.join(columns.map((column) => sql.ref(column)));
  const lineEnd = sql.lit('\n');
  const [row, lines] =
    kind === 'sqlite'
      ? [sql`json_array(${values})`, sql`group_concat(line, ${lineEnd})`]
      : [sql`json_build_array(${values})::text`, sql`string_agg(line, ${lineEnd})`];
  return async (last, limit) => {
    const { rows } = await sql<{ lines: string | null; count: number; last: string | null }>`
      select ${lines} as lines, count(*) as count, max(id) as last from (
        select id, ${row} as line from keys where id > ${last} order by id limit ${limit}) as page`.execute(
      db,
    );
    const [page] = rows;
    return { rows: page?.lines ?? '', count: Number(page?.count ?? 0), last: page?.last ?? '' };
  };
}
