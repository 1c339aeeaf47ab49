import type { Store } from '../../store/database.ts';
import { accountText, storedAccount } from '../accounts/account.ts';
import type { Grant, OAuthAccount } from '../accounts/schema.ts';
import { open, seal } from './seal.ts';

/** A login as it stands in the store just now. */
export interface StoredLogin {
  account: OAuthAccount;
  name: string;
  /** Why there is no grant; null where nothing is known of it. */
  lastError: string | null;
  /** The encrypted text that it was read from: another one means that another process has written. */
  sealed: string;
}

/** The logins of a store. Every change is made only on top of what was read, so that none undoes another. */
export function grantStore({ db }: Pick<Store, 'db'>, sealingKey: Buffer) {
  const replace = async (
    id: string,
    sealed: string,
    account: OAuthAccount,
    state: { status?: 'untested' | 'failed'; last_error?: string | null },
  ): Promise<boolean> => {
    const { numUpdatedRows } = await db
      .updateTable('connections')
      .set({ credential: seal(sealingKey, accountText(account), id), ...state })
      .where('id', '=', id)
      .where('credential', '=', sealed)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };
  return {
    /** Null when the connection is gone, has another kind of credential, or cannot be opened. */
    async find(id: string): Promise<StoredLogin | null> {
      const row = await db
        .selectFrom('connections')
        .select(['auth_type', 'credential', 'last_error', 'name'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (row?.auth_type !== 'oauth' || row.credential === null) return null;
      const text = open(sealingKey, row.credential, id);
      const account = text === null ? null : storedAccount('oauth', text);
      if (account?.kind !== 'oauth') return null;
      return { account, name: row.name, lastError: row.last_error, sealed: row.credential };
    },

    /** Keeps what a login or a renewal gave. False when another process has written since `login` was read. */
    save: (id: string, { account, sealed }: StoredLogin, grant: Grant): Promise<boolean> =>
      replace(
        id,
        sealed,
        { ...account, grant },
        // A first login, or one after the last had ended, makes what is known of the connection void.
        account.grant === null ? { status: 'untested', last_error: null } : {},
      ),

    /** Takes the grant away, which the server has ended. False as above. */
    end: (id: string, { account, sealed }: StoredLogin, why: string): Promise<boolean> =>
      replace(id, sealed, { ...account, grant: null }, { status: 'failed', last_error: why }),

    /** Writes down why the login could not be renewed, and keeps it. False as above. */
    fail: (id: string, { account, sealed }: StoredLogin, why: string): Promise<boolean> =>
      replace(id, sealed, account, { status: 'failed', last_error: why }),
  };
}

export type Grants = ReturnType<typeof grantStore>;
