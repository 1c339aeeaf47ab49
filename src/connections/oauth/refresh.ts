import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../lib/error.ts';
import type { Lease } from '../../store/lease.ts';
import type { Grant } from '../accounts/schema.ts';
import type { Grants, StoredLogin } from '../credentials/grants.ts';
import { hostOf } from './endpoint.ts';
import { renewGrant, TOKEN_TIMEOUT_MS, TokenError } from './token.ts';

export interface RefreshInput {
  grants: Grants;
  /** The right to renew the login of a connection; null while another process has it. */
  lease(connectionId: string, forMs: number): Promise<Lease | null>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Longer than a token endpoint may take, so that it ends only with its holder. */
const LEASE_MS = TOKEN_TIMEOUT_MS + 5000;
/** Longer than a lease, so that one whose holder died is waited out. */
const DEADLINE_MS = LEASE_MS + 10_000;
const POLL_MS = 50;
/** Pauses before a token endpoint that failed is asked again. */
const PAUSES_MS: readonly number[] = [250, 1000];

/**
 * Renews the login of a connection. A refresh token may be good for one use only, so the holder of the lease reads
 * the row anew before asking, and the new tokens are stored before anybody uses them.
 * @param stale whether a grant that is found needs renewing: another process may have done it
 * @throws GatewayError `login_required` when a person must log in again, TokenError when the server gave none just now
 */
export async function refreshLogin(
  input: RefreshInput,
  connectionId: string,
  stale: (grant: Grant) => boolean,
): Promise<Grant> {
  const { grants, lease, now } = input;
  const deadline = now() + DEADLINE_MS;
  for (;;) {
    const grant = usable(await grants.find(connectionId));
    if (!stale(grant)) return grant;
    const hasLease = await lease(connectionId, LEASE_MS);
    if (hasLease === null) {
      if (now() > deadline)
        throw new TokenError('transient', null, 'Another process renews the login, and does not end');
      await delay(POLL_MS);
      continue;
    }
    try {
      const login = await grants.find(connectionId);
      const current = usable(login);
      if (login === null || !stale(current)) return current;
      const renewed = await renewedGrant(input, connectionId, login, current);
      if (renewed !== null) return renewed;
    } finally {
      await hasLease.release();
    }
  }
}

/** Null when there was a new login meanwhile, which takes precedence. */
async function renewedGrant(
  { grants, now }: RefreshInput,
  id: string,
  login: StoredLogin,
  current: Grant,
): Promise<Grant | null> {
  try {
    const renewed = await insisting(() => renewGrant(login.account.client, current, now));
    return (await stored(() => grants.save(id, login, renewed))) ? renewed : null;
  } catch (error) {
    if (!(error instanceof TokenError) || error.reason !== 'refused') throw error;
    const why = endOf(login.name, current, error);
    // Only this word says that the refresh token is worth nothing; others find fault with the client.
    const stored =
      error.word === 'invalid_grant' ? await grants.end(id, login, why) : await grants.fail(id, login, why);
    if (!stored) return null;
    throw new GatewayError('login_required', why, { cause: error });
  }
}

/** Asks again after a failure that may pass. */
async function insisting(ask: () => Promise<Grant>): Promise<Grant> {
  for (const pause of PAUSES_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TokenError) || error.reason !== 'transient') throw error;
      await delay(pause);
    }
  }
  return ask();
}

/** A database that is busy or full just now would cost the login: the old refresh token may be worth nothing any more. */
async function stored(save: () => Promise<boolean>): Promise<boolean> {
  for (const pause of [100, 500, 2000]) {
    try {
      return await save();
    } catch {
      await delay(pause);
    }
  }
  return save();
}

function usable(login: StoredLogin | null): Grant {
  if (login === null)
    throw new GatewayError('login_required', 'The connection has no login that could be renewed');
  if (login.account.grant !== null) return login.account.grant;
  throw new GatewayError('login_required', login.lastError ?? notLoggedIn(login.name));
}

/** What to do about a connection without a login. */
export function notLoggedIn(name: string): string {
  return `The connection "${name}" needs a login: run \`gateway provider login ${name}\``;
}

function endOf(name: string, { tokenUrl }: Grant, { word }: TokenError): string {
  const wordText = word === null ? '' : ` (${word})`;
  if (word !== 'invalid_grant')
    return `${hostOf(tokenUrl)} does not renew the login of the connection "${name}"${wordText}: check its client id and secret, or run \`gateway provider login ${name}\``;
  return `The login of the connection "${name}" was ended by ${hostOf(tokenUrl)}${wordText}: run \`gateway provider login ${name}\``;
}
