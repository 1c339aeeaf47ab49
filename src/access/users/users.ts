import { randomUUID } from 'node:crypto';
import { type ExpressionBuilder, sql } from 'kysely';
import { GatewayError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import type { Store } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import type { Role } from '../permissions.ts';
import { readUsers, recordOf } from './rows.ts';
import type { UserRecord } from './schema.ts';

export interface NewUser {
  /** In lower case. */
  name: string;
  displayName: string | null;
  role: Role;
  /** A PHC string. */
  password: string;
}

type Db = Store['db'];

/** How often a login is noted; each note is a change of the users, which the gateway then reads again. */
const LOGIN_NOTED_MS = 60_000;

/** The people who may manage the gateway. The first is `admin`. */
export function userStore({ db }: Pick<Store, 'db'>, now: () => number = Date.now) {
  return { ...lookups(db), ...logins(db, now), ...credentials(db, now), ...profiles(db, now) };
}

export type UserStore = ReturnType<typeof userStore>;

function lookups(db: Db) {
  return {
    list: () => readUsers({ db }),

    /** By id, guid or name. */
    async find(selector: string): Promise<UserRecord | null> {
      const users = await readUsers({ db });
      const name = selector.toLowerCase();
      return (
        users.find(({ id }) => id === selector) ??
        users.find((user) => user.guid === name || user.name.toLowerCase() === name) ??
        null
      );
    },

    /** Whether there is an admin who can log in. */
    async hasAdmin(): Promise<boolean> {
      const row = await db
        .selectFrom('users')
        .select('id')
        .where('role', '=', 'admin')
        .where('disabled', '=', 0)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

/** What is noted of a user without changing who they are. */
function logins(db: Db, now: () => number) {
  return {
    /** Puts another hash of the same password in place of one, if it is still there. */
    async rehash({ id, password }: Pick<UserRecord, 'id' | 'password'>, renewed: string): Promise<void> {
      await db
        .updateTable('users')
        .set({ password: renewed })
        .where('id', '=', id)
        .where('password', '=', password)
        .execute();
    },

    /** Notes a login, at most once a minute. */
    async loggedIn(id: string): Promise<void> {
      await db
        .updateTable('users')
        .set({ last_login_at: now() })
        .where('id', '=', id)
        .where((user) =>
          user.or([user('last_login_at', 'is', null), user('last_login_at', '<=', now() - LOGIN_NOTED_MS)]),
        )
        .execute();
    },
  };
}

/** Changes after which older tokens are worth nothing. */
function credentials(db: Db, now: () => number) {
  return {
    /** Sets a password, as a PHC string, and ends all tokens. False when there is no such user. */
    async setPassword(id: string, password: string): Promise<boolean> {
      const time = now();
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set((user) => ({
          password,
          password_changed_at: time,
          updated_at: time,
          credential_version: user('credential_version', '+', 1),
        }))
        .where('id', '=', id)
        .executeTakeFirst();
      await endTokens(db, id);
      return numUpdatedRows > 0n;
    },

    /** Sets the password of `admin`, as a PHC string, making or enabling the user if need be, and ends all its tokens. */
    async setAdminPassword(password: string): Promise<void> {
      const time = now();
      const { id } = await db
        .insertInto('users')
        .values({ ...blank(time), name: 'admin', role: 'admin', password })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet((user) => ({
            password,
            role: 'admin',
            disabled: 0,
            updated_at: time,
            password_changed_at: time,
            credential_version: user('users.credential_version', '+', 1),
          })),
        )
        .returning('id')
        .executeTakeFirstOrThrow();
      await endTokens(db, id);
    },

    /** Shuts a user out, with all tokens. @throws GatewayError `conflict` for the last enabled admin, `not_found` */
    async disable(id: string): Promise<void> {
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set((user) => ({
          disabled: 1,
          updated_at: now(),
          credential_version: user('credential_version', '+', 1),
        }))
        .where('id', '=', id)
        .where(leavesAdmin(id))
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw await refused(db, id);
      await endTokens(db, id);
    },
  };
}

function profiles(db: Db, now: () => number) {
  return {
    /** @throws GatewayError when the name is taken */
    async add({ displayName, name, password, role }: NewUser): Promise<UserRecord> {
      const time = now();
      const row = { ...blank(time), name, role, password, display_name: displayName };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('users')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n)
        throw new GatewayError('invalid_request', 'a user of this name exists already', { param: 'name' });
      return recordOf(row);
    },

    /**
     * Changes a name or a role. Another role ends the logins.
     * @throws GatewayError `conflict` when no enabled admin would be left, `not_found`
     */
    async edit(id: string, change: { displayName?: string | null; role?: Role }): Promise<void> {
      const { displayName, role } = change;
      let query = db
        .updateTable('users')
        .set({
          updated_at: now(),
          ...(displayName === undefined ? {} : { display_name: displayName }),
          ...(role === undefined ? {} : { role, role_version: countedChange(role) }),
        })
        .where('id', '=', id);
      if (role !== undefined && role !== 'admin') query = query.where(leavesAdmin(id));
      const { numUpdatedRows } = await query.executeTakeFirst();
      if (numUpdatedRows === 0n) throw await refused(db, id);
    },

    async enable(id: string): Promise<void> {
      await db.updateTable('users').set({ disabled: 0, updated_at: now() }).where('id', '=', id).execute();
    },

    /** Removes a user, with all tokens. @throws GatewayError `conflict` for the last enabled admin, `not_found` */
    async remove(id: string): Promise<void> {
      const { numDeletedRows } = await db
        .deleteFrom('users')
        .where('id', '=', id)
        .where(leavesAdmin(id))
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw await refused(db, id);
      await endTokens(db, id);
    },
  };
}

/** Ends all tokens. They are invalid already, by their credential version or because their user is missing. */
async function endTokens(db: Db, id: string): Promise<void> {
  await db.deleteFrom('tokens').where('user_id', '=', id).execute();
}

/** The condition that without user `id` an enabled admin is left, as part of the change itself, so that no two race. */
function leavesAdmin(id: string) {
  return (user: ExpressionBuilder<Tables, 'users'>) =>
    user.or([
      user('role', '!=', 'admin'),
      user('disabled', '=', 1),
      user.exists(
        user
          .selectFrom('users as others')
          .select('others.id')
          .where('others.role', '=', 'admin')
          .where('others.disabled', '=', 0)
          .where('others.id', '!=', id),
      ),
    ]);
}

/** One more than before, where the role becomes another. */
function countedChange(role: Role) {
  return sql<number>`role_version + case when role <> ${role} then 1 else 0 end`;
}

async function refused(db: Db, id: string): Promise<GatewayError> {
  const row = await db.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst();
  if (row === undefined) return new GatewayError('not_found', 'This user no longer exists');
  return new GatewayError('conflict', 'This is the last enabled admin: make another one first');
}

function blank(time: number) {
  return {
    id: newId('user', time),
    guid: randomUUID(),
    display_name: null,
    disabled: 0,
    credential_version: 1,
    role_version: 1,
    created_at: time,
    updated_at: time,
    password_changed_at: time,
    last_login_at: null,
  };
}
