import { hash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../http/resource.ts';
import { headerValues } from '../http/server/raw-headers.ts';
import { GatewayError } from '../lib/error.ts';
import { readBasic } from './basic.ts';
import { inNetworks, isLoopbackAddress } from './client-address.ts';
import type { Logins } from './login/logins.ts';
import type { LoginThrottle } from './login/throttle.ts';
import { holdsPermission, isRole, type Role, roles } from './permissions.ts';
import type { TokenRecord } from './tokens/schema.ts';
import { tokenScope } from './tokens/selector.ts';
import { isExpired, wholeSecond } from './tokens/time.ts';
import type { Tokens } from './tokens/tokens.ts';
import type { UserRecord } from './users/schema.ts';
import type { UserIndex } from './users/user-index.ts';

/** What a request says of who makes it. */
export interface AuthFacts {
  /** As Node gives them: names and values in turn, with every repetition. */
  rawHeaders: readonly string[];
  /** The peer's address, from the socket. */
  address: string;
  requestId: string;
}

/** Why a request was not let in, for the audit. */
export type RefusalReason =
  | 'no_credentials'
  | 'malformed'
  | 'wrong_password'
  | 'invalid_token'
  | 'expired_token'
  | 'foreign_address'
  | 'role'
  | 'throttled';

/** A request that was not let in. Nothing in it repeats what was presented. */
export interface AuthRefusal {
  /** `unauthorized`, or `too_many_logins` and `rate_limit_exceeded` with the seconds to wait. */
  error: GatewayError;
  reason: RefusalReason;
  /** Whose token it was, where that is known. */
  userId: string | null;
}

export interface ManageAuthDeps {
  users: UserIndex;
  tokens: Tokens;
  logins: Logins;
  throttle: LoginThrottle;
  /** The run file's key: whoever can read that file owns the gateway, and is admin from loopback. */
  ownerKey: string;
  renewal: 'fixed' | 'sliding';
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** A verified login, before the request narrows it. */
interface VerifiedLogin {
  /** Whether it was a login that has ended with a change of role. */
  endedByRoleChange: boolean;
  user: Pick<UserRecord, 'id' | 'name' | 'role'> & { credentialVersion: number | null };
  via: Caller['via'];
  token: TokenRecord | null;
  passwordAt: number | null;
}

/**
 * Who calls the management API. `X-Auth-Token` decides alone where it is present, even when it is empty; else
 * `Authorization` with Basic, or with Bearer, which takes the same tokens. Nothing falls through to anything weaker. A
 * refusal is a value, and everything else that goes wrong is thrown.
 */
export async function authenticateManagement(
  facts: AuthFacts,
  deps: ManageAuthDeps,
): Promise<Caller | AuthRefusal> {
  try {
    const verified = await verifyLogin(facts, deps);
    if ('error' in verified) return verified;
    const lowered = loweredRole(facts, verified.user.role);
    return typeof lowered === 'string' ? callerOf(facts, verified, lowered) : lowered;
  } catch (error) {
    if (error instanceof GatewayError && error.status === 429)
      return { error, reason: 'throttled', userId: null };
    throw error;
  }
}

function verifyLogin(
  facts: AuthFacts,
  deps: ManageAuthDeps,
): Promise<VerifiedLogin | AuthRefusal> | AuthRefusal {
  const tokens = headerValues(facts.rawHeaders, 'x-auth-token');
  const [token, ...moreTokens] = tokens;
  if (token !== undefined) {
    if (moreTokens.length > 0 || token.includes(','))
      return refusal('malformed', 'Send X-Auth-Token once and with one token');
    if (token === '') return refusal('malformed', 'X-Auth-Token is empty');
    return byToken(token, facts, deps);
  }
  const [authorization, ...more] = headerValues(facts.rawHeaders, 'authorization');
  if (authorization === undefined)
    return refusal('no_credentials', 'Log in with a user name and password (Basic), or send X-Auth-Token');
  if (more.length > 0) return refusal('malformed', 'Send Authorization once');
  const bearer = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return byToken(bearer, facts, deps);
  if (/^basic( |$)/i.test(authorization)) return byPassword(authorization, facts, deps);
  return refusal('malformed', 'Authorization takes Basic, or Bearer with a token of this API');
}

async function byPassword(value: string, facts: AuthFacts, deps: ManageAuthDeps) {
  const basicCredentials = readBasic(value);
  if (basicCredentials === null)
    return refusal('malformed', 'The Basic login is malformed: it is base64 of name:password in UTF-8');
  const user = await deps.logins.login(basicCredentials, facts.address);
  if (user === null) return refusal('wrong_password', 'The user name or the password is wrong');
  return { user, via: 'basic' as const, token: null, passwordAt: deps.now(), endedByRoleChange: false };
}

async function byToken(
  text: string,
  facts: AuthFacts,
  deps: ManageAuthDeps,
): Promise<VerifiedLogin | AuthRefusal> {
  const { address } = facts;
  if (isLoopbackAddress(address) && sameText(text, deps.ownerKey))
    return {
      user: { id: 'local', name: 'local', role: 'admin', credentialVersion: null },
      via: 'local',
      token: null,
      passwordAt: null,
      endedByRoleChange: false,
    };
  const record = await deps.tokens.lookUp(text);
  if (record === null || record.kind === 'ws') {
    deps.throttle.unknownToken(address);
    return refusal('invalid_token', 'The token is not valid: log in again');
  }
  const user = (await deps.users.current()).byId(record.userId);
  if (isExpired(record, deps.now()))
    return refusal('expired_token', 'The token is not valid any more: log in again', record.userId);
  if (user === null || user.disabled || user.credentialVersion !== record.credentialVersion)
    return refusal('invalid_token', 'The token is not valid any more: log in again', record.userId);
  if (record.cidrs !== null && !inNetworks(address, record.cidrs))
    return refusal('foreign_address', 'The token may not be used from this address', record.userId);
  if (hasEnded(record, user))
    return { user, via: 'token', token: record, passwordAt: null, endedByRoleChange: true };
  deps.tokens.noteUse(record, { address, ...renewed(record, facts, deps) });
  const via = record.kind === 'automation' ? 'automation' : 'token';
  return {
    user,
    via,
    token: record,
    passwordAt: via === 'automation' ? null : record.authAt,
    endedByRoleChange: false,
  };
}

/**
 * Whether a login has ended since its user got another role. Tokens for automation have not: they were given their
 * rights one by one, and have never more than their user.
 */
export function hasEnded(
  { kind, roleVersion }: Pick<TokenRecord, 'kind' | 'roleVersion'>,
  user: Pick<UserRecord, 'roleVersion'>,
): boolean {
  return kind !== 'automation' && roleVersion !== user.roleVersion;
}

/** In sliding mode a use sets the expiry anew, up to its latest time, unless the client asks that it stay. */
function renewed(record: TokenRecord, facts: AuthFacts, deps: ManageAuthDeps): { expiresAt?: number } {
  if (deps.renewal === 'fixed' || record.kind === 'automation') return {};
  if (headerValues(facts.rawHeaders, 'x-auth-skip-token-renewal').some((value) => /^true$/i.test(value)))
    return {};
  const later = wholeSecond(deps.now()) + record.ttlSeconds * 1000;
  return { expiresAt: Math.max(record.expiresAt, Math.min(later, record.maxExpiresAt ?? later)) };
}

/** The role that `X-Gateway-Role` lowers the caller's to, for tests and cautious scripts. */
function loweredRole(facts: AuthFacts, role: Role): Role | AuthRefusal {
  const [requestedRole, ...more] = headerValues(facts.rawHeaders, 'x-gateway-role');
  if (requestedRole === undefined) return role;
  if (more.length > 0 || !isRole(requestedRole) || roles.indexOf(requestedRole) > roles.indexOf(role))
    return refusal('role', 'X-Gateway-Role names one role, not above your own: viewer, operator or admin');
  return requestedRole;
}

function callerOf(
  facts: AuthFacts,
  { endedByRoleChange, passwordAt, token, user, via }: VerifiedLogin,
  role: Role,
): Caller {
  const scopes = token === null || token.kind !== 'automation' ? null : (token.scopes ?? []);
  return {
    userId: user.id,
    name: user.name,
    role,
    via,
    tokenId: token?.id ?? null,
    passwordAt,
    credentialVersion: user.credentialVersion,
    address: facts.address,
    requestId: facts.requestId,
    can: (permission) => holdsPermission(role, scopes, permission),
    ended: endedByRoleChange,
    ...tokenScope(token?.selectors ?? null),
  };
}

function refusal(reason: RefusalReason, message: string, userId: string | null = null): AuthRefusal {
  return { error: new GatewayError('unauthorized', message), reason, userId };
}

/** Compares digests, so that the time it takes tells nothing. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}
