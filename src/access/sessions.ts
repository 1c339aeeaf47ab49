import type { Caller } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { type RequesterType, requesterType } from './token-schema.ts';
import { isoTime, wholeSecond } from './token-time.ts';
import type { Tokens } from './tokens.ts';
import type { UserIndex } from './user-index.ts';

/** How long tokens of logins live, in seconds. */
export interface SessionSettings {
  tokenTtlSeconds: number;
  /** For the dashboard and its WebSockets. */
  uiTokenTtlSeconds: number;
  tokenRenewal: 'fixed' | 'sliding';
  /** Since the password was proven; no renewal goes beyond. */
  tokenMaxLifetimeSeconds: number;
}

export interface SessionsDeps {
  users: UserIndex;
  tokens: Tokens;
  settings: SessionSettings;
  /** Notes that a user has logged in. */
  loggedIn(userId: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The answer of `GET /api/auth`. */
export interface TokenAnswer extends Record<string, unknown> {
  auth_token: string;
  /** ISO 8601, UTC, whole seconds. The token is valid strictly before. */
  expires_on: string;
  /** Seconds from the issue to `expires_on`. */
  token_ttl: number;
  /** Only when it is not `api`. */
  requester_type?: RequesterType;
}

export interface Sessions {
  /**
   * Logs a caller in, or gives one with a valid token a further one, which goes back to the same password and the same
   * latest expiry.
   * @param requester the query parameter `requester_type`; null when absent
   * @throws GatewayError `invalid_request` for another requester, `forbidden` for callers without a login
   */
  issueToken(caller: Caller, requester: string | null): Promise<TokenAnswer>;
  /** Ends the token that the caller came with; does nothing for one with a password. @throws GatewayError `forbidden` */
  endToken(caller: Caller): Promise<void>;
}

export function createSessions({ loggedIn, now, settings, tokens, users }: SessionsDeps): Sessions {
  return {
    async issueToken(caller, requester) {
      const kind = kindOf(requester);
      const password = caller.via === 'basic';
      if (!password && caller.via !== 'token') throw noLogin('Log in with a user name and password');
      const user = (await users.current()).byId(caller.userId);
      const from = caller.tokenId === null ? null : tokens.byId(caller.tokenId);
      if (user === null || (!password && from === null))
        throw new GatewayError('unauthorized', 'The login is not valid any more: log in again');
      const start = wholeSecond(now());
      const ttl = kind === 'api' ? settings.tokenTtlSeconds : settings.uiTokenTtlSeconds;
      const latest = from?.maxExpiresAt ?? start + settings.tokenMaxLifetimeSeconds * 1000;
      const expiresAt = Math.min(start + ttl * 1000, latest);
      const { token } = await tokens.issue({
        userId: user.id,
        credentialVersion: from?.credentialVersion ?? user.credentialVersion,
        kind,
        expiresAt,
        maxExpiresAt: latest,
        ttlSeconds: ttl,
        authAt: caller.passwordAt,
      });
      if (password) await loggedIn(user.id);
      return {
        auth_token: token,
        expires_on: isoTime(expiresAt),
        token_ttl: (expiresAt - start) / 1000,
        ...(kind === 'api' ? {} : { requester_type: kind }),
      };
    },
    async endToken(caller) {
      if (caller.via === 'automation') throw noLogin('Remove an automation token with DELETE /api/tokens/ID');
      if (caller.via === 'token' && caller.tokenId !== null) await tokens.remove(caller.tokenId);
    },
  };
}

function kindOf(requester: string | null): RequesterType {
  if (requester === null) return 'api';
  const parsed = requesterType.safeParse(requester);
  if (parsed.success) return parsed.data;
  throw new GatewayError('invalid_request', 'requester_type is api, ui or ws', { param: 'requester_type' });
}

function noLogin(message: string): GatewayError {
  return new GatewayError('forbidden', `This is for logins only. ${message}`);
}
