import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../lib/error.ts';
import { findProvider } from '../../providers/index.ts';
import type { Grant, OAuthClient } from '../accounts/schema.ts';
import type { Grants } from '../credentials/grants.ts';
import { type BrowserLogin, beginBrowserLogin, finishBrowserLogin } from './browser.ts';
import { beginDeviceLogin, type DeviceLogin, finishDeviceLogin } from './device.ts';
import { endpointsOf } from './endpoint.ts';
import { TOKEN_TIMEOUT_MS } from './token.ts';

/** A connection that is to be logged in. */
export interface LoginTarget {
  id: string;
  name: string;
  provider: string;
  client: OAuthClient;
}

export interface LoginsInput {
  grants: Grants;
  /** Where browsers come back to; null where none of this machine can. */
  redirectUri(): string | null;
  /** Told how a login went: null for well, else why not. */
  onEnd(login: { id: string; taskId: string }, error: Error | null): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Logins that were begun through this process and are not finished. In memory: they end with it, or by the clock. */
export interface Logins {
  browser(
    target: LoginTarget,
    begun: () => Promise<string>,
  ): Promise<{ taskId: string; login: BrowserLogin }>;
  device(target: LoginTarget, begun: () => Promise<string>): Promise<{ taskId: string; login: DeviceLogin }>;
  /** What a browser brought back. @throws GatewayError `login_failed` */
  finish(answer: URLSearchParams): Promise<void>;
  /** Forgets those that were not finished. */
  sweep(): Promise<void>;
  /** Ends what is under way. */
  close(): void;
}

interface Pending {
  target: LoginTarget;
  taskId: string;
  login: BrowserLogin;
  expiresAt: number;
}

const LOGIN_MS = 600_000;
const MAX_PENDING = 100;

export function createLogins(input: LoginsInput): Logins {
  const pending = new Map<string, Pending>();
  const closing = new AbortController();
  const { onEnd, grants, now, redirectUri } = input;
  return {
    async browser(target, begun) {
      if (pending.size >= MAX_PENDING)
        throw new GatewayError(
          'conflict',
          'Too many logins are begun and not finished: finish some, or wait ten minutes',
        );
      const back = target.client.redirectUri ?? redirectUri();
      if (back === null)
        throw new GatewayError(
          'invalid_request',
          'A browser cannot return to this gateway at 127.0.0.1: log in with a device code, give oauth.redirect_uri, or run `gateway provider login`',
          { param: 'method' },
        );
      const login = await browserLogin(target, back);
      const taskId = await begun();
      pending.set(login.state, { target, taskId, login, expiresAt: now() + LOGIN_MS });
      return { taskId, login };
    },
    async device(target, begun) {
      const login = await deviceLogin(target, now);
      const taskId = await begun();
      const { signal } = closing;
      const wait = (ms: number) => delay(ms, undefined, { signal, ref: false });
      finishDeviceLogin(login, target.client, { now, wait })
        .then((grant) => saveGrant(grants, target, grant))
        .then(
          () => onEnd({ id: target.id, taskId }, null),
          (error: Error) => (signal.aborted ? undefined : onEnd({ id: target.id, taskId }, error)),
        );
      return { taskId, login };
    },
    async finish(answer) {
      const state = answer.get('state') ?? '';
      const existing = pending.get(state);
      // Good for one answer, whatever it is.
      pending.delete(state);
      if (existing === undefined || existing.expiresAt <= now())
        throw new GatewayError('login_failed', 'This login is unknown or has expired: start it again');
      const { login, target, taskId } = existing;
      try {
        await saveGrant(grants, target, await finishBrowserLogin(login, target.client, answer, now));
      } catch (error) {
        await onEnd({ id: target.id, taskId }, error as Error);
        throw error;
      }
      await onEnd({ id: target.id, taskId }, null);
    },
    async sweep() {
      for (const [state, { expiresAt, target, taskId }] of pending) {
        if (expiresAt > now()) continue;
        pending.delete(state);
        await onEnd({ id: target.id, taskId }, new Error('the login was not finished in time'));
      }
    },
    close: () => closing.abort(),
  };
}

/** Begins a login whose answer comes back to `redirectUri`. @throws GatewayError */
export async function browserLogin(
  { client, provider }: LoginTarget,
  redirectUri: string,
): Promise<BrowserLogin> {
  const endpoints = await endpointsOf(client, TOKEN_TIMEOUT_MS);
  return beginBrowserLogin(client, endpoints, redirectUri, findProvider(provider)?.login?.parameters);
}

/** @throws GatewayError */
export async function deviceLogin({ client }: LoginTarget, now: () => number): Promise<DeviceLogin> {
  return beginDeviceLogin(client, await endpointsOf(client, TOKEN_TIMEOUT_MS), now);
}

/** Stores what a login gave. @throws GatewayError when the connection was changed meanwhile */
export async function saveGrant(
  grants: Grants,
  { client, id, name }: LoginTarget,
  grant: Grant,
): Promise<void> {
  for (let login = await grants.find(id); login !== null; login = await grants.find(id)) {
    // Another client or another server: what was given is not for it.
    if (JSON.stringify(login.account.client) !== JSON.stringify(client)) break;
    if (await grants.save(id, login, grant)) return;
  }
  throw new GatewayError('conflict', `The connection "${name}" was changed during the login: begin again`);
}
