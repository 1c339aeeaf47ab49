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
    const rows = await withLastUse(db)
      .where((where) => where.or([where('id', '=', idOrName), where('name', '=', idOrName)]))
      .execute();
    const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
    return row === undefined ? null : recordOf(row, row.last_used_at);
  };
  return {
    find,

    /** Adds a key. Its text is in the answer and nowhere else. @throws GatewayError for a bad or taken name */
    async add({ name, models, expiresAt }: NewKey): Promise<{ record: KeyRecord; key: string }> {
      const checked = keyName.safeParse(name);
      if (!checked.success) throw badName(checked.error.issues[0]?.message ?? 'the name is not valid');
      if ((await find(checked.data)) !== null) throw nameTaken(checked.data);
      const { hash, key, prefix } = createKey();
      const time = now();
      const row = {
        id: newId('key', time),
        name: checked.data,
        prefix,
        hash,
        models: models === null ? null : JSON.stringify(models),
        created_at: time,
        expires_at: expiresAt,
        disabled: 0,
      };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('keys')
        .values(row)
        // Another process may have taken the name meanwhile.
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) throw nameTaken(row.name);
      return { record: recordOf(row, null), key };
    },

    /** All keys, oldest first. */
    async list(): Promise<KeyRecord[]> {
      const rows = await withLastUse(db).orderBy('created_at').orderBy('id').execute();
      return rows.map((row) => recordOf(row, row.last_used_at));
    },

    /** Removes a key by id. False when there was none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('keys').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

/** Keys, and when each was last used. That is read from the ledger: nothing is written for it on the request path. */
function withLastUse(db: Store['db']) {
  return db
    .selectFrom('keys')
    .selectAll('keys')
    .select((keys) =>
      keys
        .selectFrom('requests')
        .select(({ fn }) => fn.max<number | null>('started_at').as('at'))
        .whereRef('requests.key_id', '=', 'keys.id')
        .as('last_used_at'),
    );
}

function badName(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'name' });
}

function nameTaken(name: string): GatewayError {
  return badName(`a key named "${name}" exists already: choose another name, or remove that key first`);
}

function recordOf(row: Selectable<KeyTable>, lastUsedAt: number | null): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    hash: row.hash,
    models: row.models === null ? null : JSON.parse(row.models),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt,
    disabled: row.disabled === 1,
  };
}
