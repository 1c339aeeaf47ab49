import type { Store } from '../../store/database.ts';
import { readUsers } from './rows.ts';
import type { UserRecord } from './schema.ts';

/** All users of one moment. */
export interface UserTable {
  /** By name in lower case, as it is kept. */
  byName(name: string): UserRecord | null;
  byId(id: string): UserRecord | null;
}

/** The users as they are now, whichever process changed them last. */
export interface UserIndex {
  current(): Promise<UserTable>;
}

/**
 * Keeps all users in memory. The store's revision counts every change of a user, and asking for it costs microseconds,
 * so that a disabled user is out with the very next request.
 */
export function createUserIndex(store: Pick<Store, 'db' | 'revision'>): UserIndex {
  let loaded: { revision: number; table: Promise<UserTable> } | null = null;
  return {
    current() {
      const revision = store.revision();
      if (loaded?.revision === revision) return loaded.table;
      const table = readUsers(store).then(tableOf);
      loaded = { revision, table };
      // A failed reading is not kept, so that the next request tries again.
      table.catch(() => {
        if (loaded?.table === table) loaded = null;
      });
      return table;
    },
  };
}

function tableOf(users: readonly UserRecord[]): UserTable {
  const byId = new Map(users.map((user) => [user.id, user]));
  const byName = new Map(users.map((user) => [user.name.toLowerCase(), user]));
  return {
    byName: (name) => byName.get(name.toLowerCase()) ?? null,
    byId: (id) => byId.get(id) ?? null,
  };
}
