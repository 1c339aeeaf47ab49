import { createHash } from 'node:crypto';
import { GatewayError } from '../../lib/error.ts';
import { createSteadyClock } from '../../lib/time/clock.ts';
import { findProvider } from '../../providers/index.ts';
import type { Store } from '../../store/database.ts';
import { takeLease } from '../../store/lease.ts';
import type { OAuthAccount } from '../accounts/schema.ts';
import { notLoggedIn, type RefreshInput, refreshLogin } from '../oauth/refresh.ts';
import type { OpenConnection } from '../schema.ts';
import { grantStore } from './grants.ts';
import { type MintingAccount, mintToken } from './mint.ts';

/** The access tokens of the connections that need one. */
export interface AccessTokens {
  /**
   * The token to send just now; null when one has to be fetched first. Never waits. One that is about to end is
   * renewed behind the request's back.
   */
  current(connection: OpenConnection): string | null;
  /**
   * A token that is not `rejected`, which the upstream did not take; waits for it. However many ask, one is fetched.
   * @throws GatewayError `login_required`, `credential_refresh_failed`
   */
  fresh(connection: OpenConnection, rejected?: string): Promise<string>;
  /** The tokens that requests of a connection may have been sent with lately, for what must not be shown. */
  issued(connection: OpenConnection): readonly string[];
  /** The newest token of a connection, whether it is good or not; null where there is none. */
  newest(connection: OpenConnection): AccessToken | null;
  /** Renews what is about to end. Never rejects; what failed is asked for again later. */
  renewDue(connections: readonly OpenConnection[]): Promise<void>;
}

interface TokenCacheInput {
  /**
   * Fetches a token that is not `rejected`, which the upstream did not take; null where none was refused.
   * @throws GatewayError `login_required`, `credential_refresh_failed`
   */
  fetch(connection: OpenConnection, rejected: string | null): Promise<AccessToken>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds, for pauses: never goes back. */
  steady(): number;
  /** Called with a renewal that failed and that no request waited for. */
  onError(connection: OpenConnection, error: unknown): void;
}

/** A token in memory. Times in milliseconds since the epoch. */
export interface AccessToken {
  accessToken: string;
  issuedAt: number;
  expiresAt: number | null;
}

interface Failure {
  error: GatewayError;
  count: number;
  until: number;
}

interface State extends TokenCacheInput {
  /** By connection and credential, so that another credential finds nothing of an earlier one. */
  tokens: Map<string, AccessToken>;
  /** The newest tokens of each, the newest last: requests on their way may still have an earlier one. */
  issued: Map<string, string[]>;
  flights: Map<string, Promise<string>>;
  failures: Map<string, Failure>;
  /** When a token was last fetched because the upstream had refused one. */
  forced: Map<string, number>;
  /** What each connection is called in these. */
  names: WeakMap<OpenConnection, string>;
}

/** On its way to the upstream a token must not end. */
const MARGIN_MS = 10_000;
/** A token is renewed when a fifth of its life is left, and no earlier than this. */
const AHEAD_MS = 300_000;
/** A token that was renewed because it was refused, and is refused again, is not renewed at once. */
const FORCED_PAUSE_MS = 30_000;
/** How many tokens of a connection are remembered as such. */
const KEPT_TOKENS = 4;
const PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 300_000;

type AccessTokensInput = Omit<TokenCacheInput, 'fetch'> & RefreshInput;

/** Access tokens that are fetched here: logins are renewed by the database's lease, others are asked for. */
export function createAccessTokens(input: AccessTokensInput): AccessTokens {
  return createTokenCache({
    ...input,
    fetch: (connection, rejected) => fetchOnce(input, connection, rejected),
  });
}

/** Access tokens in memory, independent of how they are fetched. */
export function createTokenCache(input: TokenCacheInput): AccessTokens {
  const state: State = {
    ...input,
    tokens: new Map(),
    issued: new Map(),
    flights: new Map(),
    failures: new Map(),
    forced: new Map(),
    names: new WeakMap(),
  };
  return {
    current(connection) {
      const token = newest(state, connection);
      if (token === null || !isGood(token, input.now())) return null;
      if (isDue(token, input.now())) behind(state, connection);
      return token.accessToken;
    },
    fresh: (connection, rejected) => fetched(state, connection, rejected ?? null),
    issued(connection) {
      const token = newest(state, connection);
      const earlier = state.issued.get(nameOf(state, connection)) ?? [];
      return token === null ? earlier : [...earlier, token.accessToken];
    },
    newest: (connection) => newest(state, connection),
    async renewDue(connections) {
      for (const connection of connections) {
        const token = newest(state, connection);
        if (token !== null && isDue(token, input.now())) await behind(state, connection);
      }
    },
  };
}

function isGood({ expiresAt }: AccessToken, now: number): boolean {
  return expiresAt === null || now < expiresAt - MARGIN_MS;
}

function isDue({ expiresAt, issuedAt }: AccessToken, now: number): boolean {
  if (expiresAt === null) return false;
  return now >= expiresAt - Math.max(MARGIN_MS, Math.min(AHEAD_MS, (expiresAt - issuedAt) / 5));
}

/** What is stored or was fetched since, whichever is newer. */
function newest(state: State, connection: OpenConnection): AccessToken | null {
  const { account } = connection;
  const inMemory = state.tokens.get(nameOf(state, connection)) ?? null;
  if (account?.kind !== 'oauth') return inMemory;
  // Taken away by the owner or the server: what is in memory is worth nothing either.
  if (account.grant === null) return null;
  return inMemory !== null && inMemory.issuedAt > account.grant.issuedAt ? inMemory : account.grant;
}

function nameOf({ names }: State, connection: OpenConnection): string {
  const existing = names.get(connection);
  if (existing !== undefined) return existing;
  const { account, credential, id } = connection;
  // A login's own text changes with every renewal.
  const text = account?.kind === 'oauth' ? JSON.stringify(account.client) : (credential ?? '');
  const name = `${id} ${createHash('sha256').update(text).digest('base64url')}`;
  names.set(connection, name);
  return name;
}

/** Renews without anybody waiting, unless it failed a moment ago. */
function behind(state: State, connection: OpenConnection): Promise<unknown> {
  const failure = state.failures.get(nameOf(state, connection));
  if (failure !== undefined && failure.until > state.steady()) return Promise.resolve();
  return fetched(state, connection, null).catch((error: unknown) => state.onError(connection, error));
}

function fetched(state: State, connection: OpenConnection, rejected: string | null): Promise<string> {
  const name = nameOf(state, connection);
  const flying = state.flights.get(name);
  if (flying !== undefined) return flying;
  const current = newest(state, connection);
  if (rejected !== null && current !== null && settled(state, name, current, rejected))
    return Promise.resolve(current.accessToken);
  const failure = state.failures.get(name);
  if (failure !== undefined && failure.until > state.steady()) return Promise.reject(failure.error);
  const flight = state
    .fetch(connection, rejected)
    .then((token) => {
      state.tokens.set(name, token);
      state.issued.set(name, [...(state.issued.get(name) ?? []), token.accessToken].slice(-KEPT_TOKENS));
      state.failures.delete(name);
      if (rejected !== null) state.forced.set(name, state.steady());
      return token.accessToken;
    })
    .catch((error: unknown) => {
      noteFailure(state, name, error);
      throw error;
    })
    .finally(() => state.flights.delete(name));
  state.flights.set(name, flight);
  return flight;
}

/** It was renewed since the request was sent, or renewing it again would not help. */
function settled(
  { forced, now, steady }: State,
  name: string,
  current: AccessToken,
  rejected: string,
): boolean {
  if (current.accessToken !== rejected) return isGood(current, now());
  return steady() - (forced.get(name) ?? -FORCED_PAUSE_MS) < FORCED_PAUSE_MS;
}

/** What failed is not asked for by every request anew. A login that was made meanwhile is found before this is. */
function noteFailure(state: State, name: string, error: unknown): void {
  if (!(error instanceof GatewayError)) return;
  const count = (state.failures.get(name)?.count ?? 0) + 1;
  const pause = Math.min(PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS);
  state.failures.set(name, { error, count, until: state.steady() + pause });
}

async function fetchOnce(
  state: RefreshInput,
  connection: OpenConnection,
  rejected: string | null,
): Promise<AccessToken> {
  const { account } = connection;
  switch (account?.kind) {
    case 'oauth':
      return renewedLogin(state, connection, account, rejected);
    case 'service-account':
    case 'client-credentials':
      return minted(state, connection, account);
    case 'aws-keys':
    case undefined:
      throw new GatewayError('internal_error', `The connection "${connection.name}" needs no access token`);
  }
}

async function minted(
  state: Pick<RefreshInput, 'now'>,
  { provider: id }: OpenConnection,
  account: MintingAccount,
): Promise<AccessToken> {
  const provider = findProvider(id);
  if (provider === undefined)
    throw new GatewayError('connection_unusable', `This version does not support the provider "${id}"`);
  return mintToken(account, provider, state.now);
}

async function renewedLogin(
  state: RefreshInput,
  { id, name }: OpenConnection,
  account: OAuthAccount,
  rejected: string | null,
): Promise<AccessToken> {
  if (account.grant === null) throw new GatewayError('login_required', notLoggedIn(name));
  return refreshLogin(
    state,
    id,
    (grant) => grant.accessToken === rejected || !isGood(grant, state.now()) || isDue(grant, state.now()),
  );
}

/** The access tokens of a store's connections, safe beside other processes with the same store. */
export function openAccessTokens(
  store: Pick<Store, 'db' | 'kind'>,
  sealingKey: Buffer,
  onError: AccessTokensInput['onError'] = () => {},
  now: () => number = Date.now,
): AccessTokens {
  return createAccessTokens({
    now,
    steady: createSteadyClock(now),
    onError,
    grants: grantStore(store, sealingKey),
    lease: (connectionId, forMs) => takeLease(store, `login ${connectionId}`, forMs),
  });
}
