import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../store/database.ts';

/** Who asks without a key: commands of the machine's owner, and anybody where no key is needed. Each is named by its id. */
export const keyless = ['local', 'anonymous'] as const;

/** The names of keys or of combos by id: what they are called now, or were when they were removed. */
export type Names = ReadonlyMap<string | null, string>;

/** The names of the ids among `ids` that there are, or were. */
export async function namesOf(
  { db }: Pick<Store, 'db'>,
  table: 'keys' | 'combos',
  ids: readonly (string | null)[],
): Promise<Names> {
  const distinctIds = [...new Set(ids)].filter((id) => id !== null);
  const names = new Map<string | null, string>(
    table === 'keys' ? keyless.map((id) => [id, id] as const) : [],
  );
  for (let start = 0; start < distinctIds.length; start += MOST_IDS) {
    const some = distinctIds.slice(start, start + MOST_IDS);
    for (const from of ['former_names', table] as const) {
      const rows = await db.selectFrom(from).select(['id', 'name']).where('id', 'in', some).execute();
      for (const { id, name } of rows) names.set(id, name);
    }
  }
  return names;
}

/** Ids in one statement. */
const MOST_IDS = 500;

/** The name of a request's key, as `namesOf` tells it. */
export const keyNameColumn: RawBuilder<unknown> = sql`coalesce(
  (select keys.name from keys where keys.id = requests.key_id),
  (select former_names.name from former_names where former_names.id = requests.key_id),
  case when requests.key_id in (${sql.join(keyless)}) then requests.key_id end)`;
