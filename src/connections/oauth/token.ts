import { transportFault } from '../../http/outbound/transport-fault.ts';
import { GatewayError } from '../../lib/error.ts';
import type { ClientAuth, Grant, OAuthClient } from '../accounts/schema.ts';
import { type ClientIdentity, type Endpoints, hostOf, postForm, type ServerAnswer } from './endpoint.ts';

/** How long a token endpoint may take. */
export const TOKEN_TIMEOUT_MS = 15_000;

/**
 * Why a token endpoint gave no token. `refused`: asking again with the same would not help. `pending` and `slow`:
 * the person has not answered yet (RFC 8628, 3.5).
 */
export class TokenError extends GatewayError {
  readonly reason: 'refused' | 'transient' | 'pending' | 'slow';
  /** The server's own word: `invalid_grant`; null when none came. */
  readonly word: string | null;

  constructor(reason: TokenError['reason'], word: string | null, message: string, cause?: unknown) {
    super('credential_refresh_failed', message, {
      cause,
      ...(reason === 'transient' ? { retryAfter: 5 } : {}),
    });
    this.reason = reason;
    this.word = word;
  }
}

export interface TokenRequest {
  url: string;
  form: Readonly<Record<string, string>>;
  /** Null where the form says who asks. */
  client: ClientIdentity | null;
}

/** What a token endpoint gave. */
export interface IssuedToken {
  accessToken: string;
  refreshToken: string | null;
  issuedAt: number;
  expiresAt: number | null;
  scope: string | null;
}

/**
 * Asks a token endpoint once.
 * @param now milliseconds since the epoch
 * @throws TokenError, without anything secret in its message
 */
export async function requestToken(
  { client, form, url }: TokenRequest,
  now: () => number,
): Promise<IssuedToken> {
  let answer: ServerAnswer;
  const issuedAt = now();
  try {
    answer = await postForm(url, form, client, TOKEN_TIMEOUT_MS);
  } catch (error) {
    throw new TokenError('transient', null, `${hostOf(url)} gave no token: ${transport(error)}`, error);
  }
  const { json, status } = answer;
  const token = json['access_token'];
  if (status !== 200 || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw refusal(url, answer);
  const type = json['token_type'];
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer')
    throw new TokenError(
      'refused',
      null,
      `${hostOf(url)} gave a token of the type ${JSON.stringify(type)}, not a bearer token`,
    );
  const seconds = Number(json['expires_in']);
  return {
    accessToken: token,
    refreshToken: textOrNull(json['refresh_token']),
    issuedAt,
    expiresAt: Number.isFinite(seconds) && seconds > 0 ? issuedAt + seconds * 1000 : null,
    scope: textOrNull(json['scope']),
  };
}

/** The errors of RFC 6749, 5.2 and RFC 8628, 3.5 after which the same request may come again. */
const patience: Readonly<Record<string, TokenError['reason']>> = {
  authorization_pending: 'pending',
  slow_down: 'slow',
  temporarily_unavailable: 'transient',
  server_error: 'transient',
};

function refusal(url: string, { json, status }: ServerAnswer): TokenError {
  const word = textOrNull(json['error']);
  const plain = word !== null && /^[\w.-]{1,60}$/.test(word) ? word : null;
  const server = status >= 500 || status === 429 || status === 408;
  // A word that is none of the standard's says nothing; a client error without any may be a proxy's.
  const reason =
    (plain === null ? undefined : patience[plain]) ?? (server || plain === null ? 'transient' : 'refused');
  const detail = plain === null ? `${status}` : `${status} ${plain}`;
  return new TokenError(reason, plain, `${hostOf(url)} gave no token: it answered ${detail}`);
}

function transport(error: unknown): string {
  const { code, fault } = transportFault(error as Error);
  return fault === 'no-answer' ? `no answer within ${TOKEN_TIMEOUT_MS / 1000} s` : code;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The grant of a login, ready to be kept. */
export function grantOf(issued: IssuedToken, endpoints: Pick<Endpoints, 'token' | 'clientAuth'>): Grant {
  return { ...issued, tokenUrl: endpoints.token, clientAuth: endpoints.clientAuth };
}

/**
 * Renews a grant. The new one keeps the refresh token where the server gave no other (RFC 6749, 6).
 * @throws TokenError
 */
export async function renewGrant(client: OAuthClient, grant: Grant, now: () => number): Promise<Grant> {
  const { refreshToken } = grant;
  if (refreshToken === null)
    throw new TokenError(
      'refused',
      'invalid_grant',
      'The access token has ended, and there is no refresh token: the scope may lack offline_access',
    );
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, ...audienceOf(client) };
  const issued = await requestToken(
    { url: grant.tokenUrl, form, client: clientIdentity(client, grant.clientAuth) },
    now,
  );
  return {
    ...grant,
    ...issued,
    refreshToken: issued.refreshToken ?? refreshToken,
    scope: issued.scope ?? grant.scope,
  };
}

export function clientIdentity({ clientId, clientSecret }: OAuthClient, auth: ClientAuth): ClientIdentity {
  return { id: clientId, secret: clientSecret, auth };
}

/** Some servers give a token for one API only when it is named. */
export function audienceOf({ audience }: OAuthClient): { audience?: string } {
  return audience === null ? {} : { audience };
}
