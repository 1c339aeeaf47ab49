import { z } from 'zod';
import type { Action, Caller, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Logins, LoginTarget } from '../oauth/logins.ts';
import type { connectionStore } from '../store.ts';

export interface LoginActionInput {
  connections: Pick<ReturnType<typeof connectionStore>, 'findOpen'>;
  logins: Logins;
  /** Begins the task that ends with the login. Returns its id. */
  beginTask(target: LoginTarget, caller: Caller): Promise<string>;
}

const input = z.strictObject({
  /** `browser` gives an address to open, `device` a code to type on another device. */
  method: z.enum(['browser', 'device']).default('browser'),
});

/** Begins a login at a provider. The task says how it went. */
export function loginAction({ beginTask, connections, logins }: LoginActionInput): Action {
  return {
    summary:
      'Starts a login at the provider, in a browser or with a code. The task ends when the login is complete.',
    permission: 'connections:update',
    input,
    possible: (row) => row['auth_type'] === 'oauth',
    preview: async (row) => ({
      success: true,
      message: `A login of "${String(row['name'])}" would be begun`,
    }),
    async run(row, body, caller) {
      const target = await targetOf(connections, row);
      const begin = () => beginTask(target, caller);
      switch (input.parse(body).method) {
        case 'browser': {
          const { login, taskId } = await logins.browser(target, begin);
          const message = 'Open the address in a browser and log in there';
          return { success: true, message, taskId, result: { authorization_url: login.url } };
        }
        case 'device': {
          const { login, taskId } = await logins.device(target, begin);
          const { completeUrl, expiresAt, userCode, verificationUrl } = login;
          const result = {
            user_code: userCode,
            verification_url: verificationUrl,
            verification_url_complete: completeUrl,
            expires_at: new Date(expiresAt).toISOString(),
          };
          return { success: true, message: `Open ${verificationUrl} and type ${userCode}`, taskId, result };
        }
      }
    },
  };
}

async function targetOf(connections: LoginActionInput['connections'], row: Row): Promise<LoginTarget> {
  const open = await connections.findOpen(row.id);
  if (open === null)
    throw new GatewayError(
      'not_found',
      `The connection "${String(row['name'])}" was removed in the meantime`,
    );
  if (open.account?.kind !== 'oauth')
    throw new GatewayError('conflict', `The connection "${open.name}" has no login: its credential is a key`);
  const { account, id, name, provider } = open;
  return { id, name, provider, client: account.client };
}
