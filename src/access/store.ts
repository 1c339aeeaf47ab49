import type { Selectable } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import type { KeyTable } from '../store/tables.ts';
import { createKey } from './keys.ts';
import { type KeyRecord, keyName } from './schema.ts';

export interface NewKey {
  name: string;
  models: string[] | null;
  expiresAt: number | null;
}

/** The gateway keys of a store. */
export function keyStore({ db }: Pick<Store, 'db'>, now: () => number = Date.now) {
  const find = async (idOrName: string): Promise<KeyRecord | null> => {
    const rows = await db
      .selectFrom('keys')
      .selectAll()
      .where((where) => where.or([where('id', '=', idOrName), where('name', '=', idOrName)]))
      .execute();
    const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
    return row === undefined ? null : recordOf(row, await lastUses(db, [row.id]));
  };
  return {
    find,

    /** Adds a key. Its text is in the answer and nowhere else. @throws GatewayError for a bad or taken name */
    async add({ name, models, expiresAt }: NewKey): Promise<{ record: KeyRecord; key: string }> {
      const checked = keyName.safeParse(name);
      if (!checked.success) {
        throw new GatewayError(
          'invalid_request',
          checked.error.issues[0]?.message ?? 'the name is not valid',
          { param: 'name' },
        );
      }
      if ((await find(checked.data)) !== null) {
        throw new GatewayError(
          'invalid_request',
          `a key named "${checked.data}" exists already: choose another name, or remove that key first`,
          {
            param: 'name',
          },
        );
      }
      const { hash, key, prefix } = createKey();
      const row = {
        id: newId('key', now()),
        name: checked.data,
        prefix,
        hash,
        models: models === null ? null : JSON.stringify(models),
        created_at: now(),
        expires_at: expiresAt,
        disabled: 0,
      };
      await db.insertInto('keys').values(row).execute();
      return { record: recordOf(row, new Map()), key };
    },

    /** All keys, oldest first. */
    async list(): Promise<KeyRecord[]> {
      const rows = await db.selectFrom('keys').selectAll().orderBy('created_at').orderBy('id').execute();
      const used = await lastUses(
        db,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => recordOf(row, used));
    },

    /** Removes a key by id. False when there was none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('keys').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

/** When each key was last used, from the ledger: nothing has to be written for it on the request path. */
async function lastUses(db: Store['db'], ids: string[]): Promise<Map<string, number>> {
  const used = new Map<string, number>();
  for (const id of ids) {
    const row = await db
      .selectFrom('requests')
      .select('started_at')
      .where('key_id', '=', id)
      .orderBy('started_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) used.set(id, row.started_at);
  }
  return used;
}

function recordOf(row: Selectable<KeyTable>, used: ReadonlyMap<string, number>): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    hash: row.hash,
    models: row.models === null ? null : JSON.parse(row.models),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: used.get(row.id) ?? null,
    disabled: row.disabled === 1,
  };
}
