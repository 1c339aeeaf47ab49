import type { Action } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Grants } from '../credentials/grants.ts';
import { revokeLogin } from '../oauth/revoke.ts';
import type { connectionStore } from '../store.ts';
import type { OAuthAccount } from './schema.ts';

/** A login that was ended here. */
export interface LoggedOut {
  /** The connection's. */
  name: string;
  /** Why it may live on at its server; null when it has ended there too. */
  leftAlive: string | null;
}

/**
 * Ends the login of a connection, here first, so that nothing uses it any more, and then at its server.
 * Null where there is none.
 */
export async function logOut(
  grants: Pick<Grants, 'find' | 'end'>,
  { id, name }: { id: string; name: string },
): Promise<LoggedOut | null> {
  const why = `Logged out: run \`gateway provider login ${name}\``;
  for (;;) {
    const login = await grants.find(id);
    const grant = login?.account.grant ?? null;
    if (login === null || grant === null) return null;
    // A renewal that is under way may have stored another one meanwhile.
    if (!(await grants.end(id, login, why))) continue;
    return { name, leftAlive: await revokeLogin(login.account.client, grant) };
  }
}

/** The report of a logout. */
export function logoutMessage({ leftAlive, name }: LoggedOut): string {
  return leftAlive === null
    ? `The login of the connection "${name}" has ended, here and at its server`
    : `The login of the connection "${name}" has ended here, but not at its server: ${leftAlive}. End it there by hand`;
}

/** Ends a login through the management API. */
export function logoutAction(grants: Pick<Grants, 'find' | 'end'>): Action {
  return {
    summary: 'Ends the login here and at the provider. The connection then needs a new login.',
    permission: 'connections:update',
    possible: (row) => row['auth_type'] === 'oauth' && row['has_credential'] === true,
    preview: async (row) => ({
      success: true,
      message: `The login of "${String(row['name'])}" would be ended, here and at its server`,
    }),
    async run(row) {
      const ended = await logOut(grants, { id: row.id, name: String(row['name']) });
      if (ended === null)
        throw new GatewayError('conflict', `There is no login for the connection "${String(row['name'])}"`);
      return {
        success: true,
        message: logoutMessage(ended),
        result: { revoked: ended.leftAlive === null },
      };
    },
  };
}

type Connections = ReturnType<typeof connectionStore>;

/**
 * The connections, where the login of one that is removed is ended at its server as well.
 * @param notify what of it may live on there
 */
export function loggingOut(connections: Connections, notify: (left: LoggedOut) => void): Connections {
  return {
    ...connections,
    async remove(id) {
      const open = await connections.findOpen(id);
      const removed = await connections.remove(id);
      const login: OAuthAccount | null = open?.account?.kind === 'oauth' ? open.account : null;
      if (open === null || !removed || login === null || login.grant === null) return removed;
      const leftAlive = await revokeLogin(login.client, login.grant);
      if (leftAlive !== null) notify({ name: open.name, leftAlive });
      return true;
    },
  };
}
