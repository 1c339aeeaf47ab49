import type { Caller } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import { hasEnded } from '../manage-auth.ts';
import { roleHas } from '../permissions.ts';
import { type RequesterType, requesterType } from '../tokens/requester-schema.ts';
import { isExpired, wholeSecond } from '../tokens/time.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { UserRecord } from '../users/schema.ts';
import type { UserIndex } from '../users/user-index.ts';

/** How long tokens of logins live, in seconds. */
export interface TokenSettings {
  tokenTtlSeconds: number;
  /** For the dashboard and its WebSockets. */
  uiTokenTtlSeconds: number;
  tokenRenewal: 'fixed' | 'sliding';
  /** Since the password was proven; no renewal goes beyond. */
  tokenMaxLifetimeSeconds: number;
}

export interface LoginTokensDeps {
  users: UserIndex;
  tokens: Tokens;
  settings: TokenSettings;
  /** Notes that a user has logged in. */
  loggedIn(userId: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** A new token, whose text is shown this once. */
export interface IssuedToken {
  /** The accessor, for the audit. */
  id: string;
  token: string;
  /** Milliseconds since the epoch, on a whole second. The token is valid strictly before. */
  expiresAt: number;
  /** From the issue to the expiry. */
  ttlSeconds: number;
  requesterType: RequesterType;
}

/** The tokens of logins: what `/api/auth` gives and takes back. */
export interface LoginTokens {
  /**
   * Logs a caller in, or gives one with a valid token a further one, which goes back to the same password and the same
   * latest expiry.
   * @param requester the query parameter `requester_type`: `api`, `ui` or `ws`
   * @throws GatewayError `invalid_request` for another requester, `forbidden` for callers without a login
   */
  issue(caller: Caller, requester: string): Promise<IssuedToken>;
  /** Ends the token that the caller came with; does nothing for one with a password. @throws GatewayError `forbidden` */
  end(caller: Caller): Promise<void>;
  /** When the caller's login ends, in milliseconds since the epoch; 0 when it has ended, null when it never does. */
  endOf(caller: Caller): number | null;
  /** Whether the caller would still be let in, with these permissions. */
  lasts(caller: Caller, permissions: readonly string[]): Promise<boolean>;
}

export function createLoginTokens({ loggedIn, now, settings, tokens, users }: LoginTokensDeps): LoginTokens {
  return {
    async issue(caller, requester) {
      const kind = kindOf(requester);
      const password = caller.via === 'basic';
      if (!password && caller.via !== 'token') throw noLogin('Log in with a user name and password');
      const user = (await users.current()).byId(caller.userId);
      const from = caller.tokenId === null ? null : tokens.byId(caller.tokenId);
      if (user === null || caller.ended || !isStill(caller, user) || (!password && from === null))
        throw new GatewayError('unauthorized', 'The login is not valid any more: log in again');
      const start = wholeSecond(now());
      const ttl = kind === 'api' ? settings.tokenTtlSeconds : settings.uiTokenTtlSeconds;
      const latest = from?.maxExpiresAt ?? start + settings.tokenMaxLifetimeSeconds * 1000;
      const expiresAt = Math.min(start + ttl * 1000, latest);
      const { record, token } = await tokens.issue({
        userId: user.id,
        kind,
        expiresAt,
        maxExpiresAt: latest,
        ttlSeconds: ttl,
        credentialVersion: from?.credentialVersion ?? user.credentialVersion,
        roleVersion: from?.roleVersion ?? user.roleVersion,
        authAt: caller.passwordAt,
      });
      if (password) await loggedIn(user.id);
      const ttlSeconds = (expiresAt - start) / 1000;
      return { id: record.id, token, expiresAt, ttlSeconds, requesterType: kind };
    },
    async end(caller) {
      if (caller.via === 'automation') throw noLogin('Remove an automation token with DELETE /api/tokens/ID');
      if (caller.via === 'token' && caller.tokenId !== null) await tokens.remove(caller.tokenId);
    },
    async lasts(caller, permissions) {
      if (caller.via === 'local') return true;
      const user = (await users.current()).byId(caller.userId);
      if (user === null || !isStill(caller, user)) return false;
      if (caller.tokenId !== null) {
        const token = tokens.byId(caller.tokenId);
        if (token === null || isExpired(token, now()) || hasEnded(token, user)) return false;
        if (token.credentialVersion !== user.credentialVersion) return false;
      }
      return permissions.every((permission) => caller.can(permission) && roleHas(user.role, permission));
    },
    endOf(caller) {
      if (caller.tokenId !== null) return tokens.byId(caller.tokenId)?.expiresAt ?? 0;
      // A password is no session; what stays open on one is asked for it again after as long as the dashboard is.
      return caller.passwordAt === null ? null : caller.passwordAt + settings.uiTokenTtlSeconds * 1000;
    },
  };
}

/** Whether nothing happened since the caller was let in that ended the login. By counting, for clocks are set back. */
function isStill(caller: Caller, { credentialVersion, disabled }: UserRecord): boolean {
  return !disabled && caller.credentialVersion === credentialVersion;
}

function kindOf(requester: string): RequesterType {
  const parsed = requesterType.safeParse(requester);
  if (parsed.success) return parsed.data;
  throw new GatewayError('invalid_request', 'requester_type must be api, ui or ws', {
    param: 'requester_type',
  });
}

function noLogin(message: string): GatewayError {
  return new GatewayError('forbidden', `This is for logins only. ${message}`);
}
