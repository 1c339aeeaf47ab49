import { type ExpressionBuilder, sql, type Updateable } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import type { KeyTable, Tables } from '../store/tables.ts';
import { createKey, hashKey } from './keys/keys.ts';
import { latestUsedKeys } from './keys/latest-use.ts';
import { keyName } from './keys/name-schema.ts';
import type { KeyPageQuery } from './keys/page.ts';
import { recordOf, unknownContext } from './keys/stored-key.ts';
import type { KeyRecord } from './schema.ts';

export interface NewKey {
  name: string;
  models: string[] | null;
  expiresAt: number | null;
  /** Default null. */
  cacheTtlSeconds?: number | null;
  /** The name or id of a user, or any text; default null. */
  owner?: string | null;
  /** Default null. */
  team?: string | null;
  /** Default none. */
  labels?: Readonly<Record<string, string>>;
}

/** What changes of a key; the rest stays. */
export type KeyPatch = Partial<NewKey & { disabled: boolean }>;

/** The gateway keys of a store. */
export function keyStore({ db }: Pick<Store, 'db'>, now: () => number = Date.now) {
  const find = async (idOrName: string): Promise<KeyRecord | null> => {
    const rows = await described(db)
      .where((where) => where.or([where('id', '=', idOrName), where('name', '=', idOrName)]))
      .execute();
    const row = rows.find(({ id }) => id === idOrName) ?? rows[0];
    return row === undefined ? null : recordOf(row, row);
  };
  return {
    find,

    /** Adds a key. Its text is in the answer and nowhere else. @throws GatewayError for a bad or taken name */
    async add({
      cacheTtlSeconds = null,
      expiresAt,
      labels = {},
      models,
      name,
      owner = null,
      team = null,
    }: NewKey): Promise<{ record: KeyRecord; key: string }> {
      const checked = checkedName(name);
      if ((await find(checked)) !== null) throw nameTaken(checked);
      const { hash, key, prefix } = createKey();
      const named = await ownerNamed(db, owner);
      const time = now();
      const row = {
        id: newId('key', time),
        name: checked,
        prefix,
        hash,
        models: models === null ? null : JSON.stringify(models),
        created_at: time,
        expires_at: expiresAt,
        disabled: 0,
        cache_ttl_seconds: cacheTtlSeconds,
        owner: named.owner,
        team,
        labels: labelText(labels),
      };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('keys')
        .values(row)
        // Another process may have taken the name meanwhile.
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) throw nameTaken(row.name);
      return { record: recordOf(row, { last_used_at: null, owner_user_id: named.userId }), key };
    },

    /** The key with this SHA-256 (hex) of its text. When it was used last is not looked up. */
    async withHash(hash: string): Promise<KeyRecord | null> {
      const row = await db.selectFrom('keys').selectAll().where('hash', '=', hash).executeTakeFirst();
      return row === undefined ? null : recordOf(row, unknownContext);
    },

    /** How many keys there are, and how many of them open something. */
    async counts(): Promise<{ total: number; usable: number }> {
      const usable = sql<number>`case when disabled = 0 and (expires_at is null or expires_at > ${now()}) then 1 else 0 end`;
      const row = await db
        .selectFrom('keys')
        .select(({ fn }) => [fn.countAll<number>().as('total'), fn.sum<number | null>(usable).as('usable')])
        .executeTakeFirstOrThrow();
      return { total: Number(row.total), usable: Number(row.usable ?? 0) };
    },

    /** Whether there is a key of this name, or with this id. */
    async isTaken(idOrName: string): Promise<boolean> {
      const row = await db
        .selectFrom('keys')
        .select('id')
        .where((where) => where.or([where('id', '=', idOrName), where('name', '=', idOrName)]))
        .executeTakeFirst();
      return row !== undefined;
    },

    /** All keys, oldest first. */
    async list(): Promise<KeyRecord[]> {
      const rows = await described(db).orderBy('created_at').orderBy('id').execute();
      return rows.map((row) => recordOf(row, row));
    },

    /** A page of the keys, the oldest first where nothing else is asked for; how many there are, and how many fit. */
    async page({ conditions, isByLatestUse, limit, offset, order }: KeyPageQuery) {
      const all = db.selectFrom('keys').select(({ fn }) => fn.countAll<number>().as('count'));
      let [select, fitting] = [db.selectFrom('keys').select('id'), all];
      for (const condition of conditions) {
        select = select.where(condition);
        fitting = fitting.where(condition);
      }
      for (const term of order) select = select.orderBy(term);
      const latest = isByLatestUse ? await latestUsedKeys(db, offset + limit) : null;
      if (latest !== null)
        select = select.where(sql<boolean>`id in (select value from json_each(${JSON.stringify(latest)}))`);
      const page = await select.orderBy('created_at').orderBy('id').limit(limit).offset(offset).execute();
      // The last use is looked up of these alone, and not of all that come before them.
      const ids = page.map(({ id }) => id);
      const rows = ids.length === 0 ? [] : await described(db).where('keys.id', 'in', ids).execute();
      const byId = new Map(rows.map((row) => [row.id, recordOf(row, row)]));
      const { count } = await all.executeTakeFirstOrThrow();
      const filtered = conditions.length === 0 ? count : (await fitting.executeTakeFirstOrThrow()).count;
      return { records: ids.flatMap((id) => byId.get(id) ?? []), count, filtered };
    },

    /** The keys of these ids. When each was used last is not looked up. */
    async named(ids: readonly string[]): Promise<KeyRecord[]> {
      const rows = await db.selectFrom('keys').selectAll().where('id', 'in', ids).execute();
      return rows.map((row) => recordOf(row, unknownContext));
    },

    /** The numbers of the first and the last change that is known, and what was changed after `number`. */
    async changesAfter(number: number): Promise<{ first: number; last: number; ids: string[] }> {
      const { first, last } = await db
        .selectFrom('key_changes')
        .select(({ fn }) => [
          fn.min<number | null>('number').as('first'),
          fn.max<number | null>('number').as('last'),
        ])
        .executeTakeFirstOrThrow();
      const rows =
        (last ?? 0) <= number
          ? []
          : await db
              .selectFrom('key_changes')
              .select('key_id')
              .distinct()
              .where('number', '>', number)
              .execute();
      return { first: first ?? 0, last: last ?? 0, ids: rows.map(({ key_id }) => key_id) };
    },

    /** Changes a key by id. False when there is none. @throws GatewayError for a bad or taken name */
    async update(id: string, patch: KeyPatch): Promise<boolean> {
      const { owner } = patch;
      const change = changeOf(
        owner === undefined ? patch : { ...patch, owner: (await ownerNamed(db, owner)).owner },
      );
      if (Object.keys(change).length === 0) return (await find(id))?.id === id;
      const { name } = change;
      let query = db.updateTable('keys').set(change).where('id', '=', id);
      // In the same statement, since another process may take the name at any time.
      if (name !== undefined)
        query = query.where((where) => where.not(where.exists(owners(where, name, id))));
      const { numUpdatedRows } = await query.executeTakeFirst();
      if (numUpdatedRows > 0n) return true;
      if (name !== undefined && (await find(id))?.id === id) throw nameTaken(name);
      return false;
    },

    /** Gives a key another text, which is in the answer and nowhere else. The old one opens nothing any more. Null when there is no such key. */
    async rotate(id: string): Promise<string | null> {
      const { hash, key, prefix } = createKey();
      const { numUpdatedRows } = await db
        .updateTable('keys')
        .set({ hash, prefix })
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n ? key : null;
    },

    /** Removes a key by id. False when there was none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('keys').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

/** Whether `key` is the text of a key of the store, whatever it may do. */
export async function hasKey({ db }: Pick<Store, 'db'>, key: string): Promise<boolean> {
  const row = await db.selectFrom('keys').select('id').where('hash', '=', hashKey(key)).executeTakeFirst();
  return row !== undefined;
}

/** The owner of a key as it is stored: the name of the user that is meant, in full and in their own letters, else the text. */
export async function ownerNamed(
  db: Store['db'],
  text: string | null,
): Promise<{ owner: string | null; userId: string | null }> {
  if (text === null) return { owner: null, userId: null };
  const users = await db
    .selectFrom('users')
    .select(['id', 'name'])
    .where((user) => user.or([user('id', '=', text), user('name', '=', text.toLowerCase())]))
    .execute();
  const user = users.find(({ id }) => id === text) ?? users[0];
  return user === undefined ? { owner: text, userId: null } : { owner: user.name, userId: user.id };
}

/**
 * Keys, when each was last used, and which user its owner is. The last use is read from the ledger: nothing is written
 * for it on the request path.
 */
function described(db: Store['db']) {
  return db
    .selectFrom('keys')
    .selectAll('keys')
    .select((keys) =>
      keys
        .selectFrom('requests')
        .select(({ fn }) => fn.max<number | null>('started_at').as('at'))
        .whereRef('requests.key_id', '=', 'keys.id')
        .as('last_used_at'),
    )
    .select((keys) =>
      keys
        .selectFrom('users')
        .select('users.id')
        .whereRef('users.name', '=', 'keys.owner')
        .as('owner_user_id'),
    );
}

/** Other keys that go by `name`, be it their name or their id. */
function owners(where: ExpressionBuilder<Tables, 'keys'>, name: string, own: string) {
  return where
    .selectFrom('keys as other')
    .select('other.id')
    .where('other.id', '!=', own)
    .where((each) => each.or([each('other.name', '=', name), each('other.id', '=', name)]));
}

function changeOf(patch: KeyPatch): Updateable<KeyTable> {
  const { cacheTtlSeconds, disabled, expiresAt, labels, models, name, owner, team } = patch;
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(team === undefined ? {} : { team }),
    ...(labels === undefined ? {} : { labels: labelText(labels) }),
    ...(cacheTtlSeconds === undefined ? {} : { cache_ttl_seconds: cacheTtlSeconds }),
    ...(name === undefined ? {} : { name: checkedName(name) }),
    ...(models === undefined ? {} : { models: models === null ? null : JSON.stringify(models) }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(disabled === undefined ? {} : { disabled: disabled ? 1 : 0 }),
  };
}

/** The name as it is stored. @throws GatewayError */
function checkedName(name: string): string {
  const checked = keyName.safeParse(name);
  if (checked.success) return checked.data;
  throw badName(checked.error.issues[0]?.message ?? 'the name is not valid');
}

function badName(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'name' });
}

function nameTaken(name: string): GatewayError {
  return badName(`a key named "${name}" exists already: choose another name, or remove that key first`);
}

function labelText(labels: Readonly<Record<string, string>>): string | null {
  return Object.keys(labels).length === 0 ? null : JSON.stringify(labels);
}
