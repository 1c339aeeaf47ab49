import { z } from 'zod';
import type { Caller, Resource, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { AccessParts } from '../access-control.ts';
import { hasEnded } from '../manage-auth.ts';
import { hasFreshLogin, mayBeScope } from '../permissions.ts';
import type { UserRecord } from '../users/schema.ts';
import type { UserTable } from '../users/user-index.ts';
import { labels, network, type TokenRecord, tokenName } from './schema.ts';
import { collectionOf, selectorText } from './selector.ts';
import { isoTime, isoTimeOrNull, wholeSecond } from './time.ts';
import type { NewToken } from './tokens.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;
const MOST_DAYS = 366;
/** Of one user, so that a lost script fills no memory. */
const MAX_AUTOMATION = 100;

const record = z.object({
  id: z.string(),
  kind: z.enum(['api', 'ui', 'ws', 'automation']),
  user_id: z.string(),
  user: z.string(),
  name: z.string().nullable(),
  hint: z.string(),
  scopes: z.array(z.string()).nullable(),
  labels: z.record(z.string(), z.string()),
  cidrs: z.array(z.string()).nullable(),
  selectors: z.array(z.string()).nullable(),
  created_at: z.string(),
  expires_at: z.string(),
  last_used_at: z.string().nullable(),
  last_used_address: z.string().nullable(),
  /** Whether the request came with it. */
  current: z.boolean(),
});

const newToken = z.strictObject({
  name: tokenName,
  scopes: z.array(z.string()).min(1, 'a token needs at least one scope').max(100),
  labels: labels.optional(),
  cidrs: z.array(network).min(1, 'leave cidrs out to allow every network').max(100).optional(),
  /** Which members of collections it reaches: `services:id=mcp`. */
  selectors: z.array(selectorText).min(1, 'leave selectors out to reach every member').max(100).optional(),
  expires_at: z.iso.datetime({ error: 'a time is written like 2026-11-21T10:00:00Z' }).optional(),
});

/**
 * The tokens of the management API: one's own logins, and tokens for automation, which act for the user who made them,
 * with the scopes that they were given and never more than the user may at the time. Tokens make no tokens: `create`
 * needs a login.
 */
export function tokensResource({ index, now, tokens }: AccessParts): Resource {
  const live = (users: UserTable, caller: Caller): TokenRecord[] =>
    tokens.list().filter((token) => {
      const user = users.byId(token.userId);
      if (user === null || user.disabled || user.credentialVersion !== token.credentialVersion) return false;
      if (hasEnded(token, user)) return false;
      return token.userId === caller.userId || caller.can('tokens:read');
    });
  const rows = async (caller: Caller): Promise<Row[]> => {
    const users = await index.current();
    return live(users, caller).map((token) => tokenRow(token, users.byId(token.userId), caller));
  };
  return {
    name: 'tokens',
    title: 'Tokens',
    summary:
      'Logins, and tokens for automation. Without the permission tokens:read users see only their own.',
    record,
    read: 'self:read',
    list: rows,
    find: async (id, caller) => (await rows(caller)).find((row) => row.id === id) ?? null,
    create: {
      permission: 'self:update',
      perMinute: 120,
      input: newToken,
      secret: z.object({ token: z.string().describe('The token, which is shown this once') }),
      async run(input, caller) {
        const newTokenInput = newToken.parse(input);
        const users = await index.current();
        const owner = ownerOf(caller, users, now());
        checkScopes(newTokenInput.scopes, caller);
        checkSelectors(newTokenInput.selectors ?? [], newTokenInput.scopes);
        const own = live(users, caller).filter(
          ({ kind, userId }) => kind === 'automation' && userId === owner.id,
        );
        if (own.length >= MAX_AUTOMATION)
          throw new GatewayError('conflict', `You have ${MAX_AUTOMATION} such tokens: remove some first`);
        if (own.some(({ name }) => name === newTokenInput.name))
          throw atFault('name', 'you have a token of this name already');
        const { record: made, token } = await tokens.issue(automation(newTokenInput, owner, now()));
        return { row: tokenRow(made, owner, caller), secret: { token } };
      },
    },
    remove: {
      permission: 'self:update',
      async run(row, caller) {
        if (row['user_id'] !== caller.userId && !caller.can('tokens:delete'))
          throw new GatewayError('forbidden', 'To end the token of another user, tokens:delete is needed');
        await tokens.remove(row.id);
      },
    },
  };
}

/** Whose the token will be. @throws GatewayError `forbidden`, `reauthentication_required` */
function ownerOf(caller: Caller, users: UserTable, now: number): UserRecord {
  const user = users.byId(caller.userId);
  if (user === null || (caller.via !== 'basic' && caller.via !== 'token'))
    throw new GatewayError('forbidden', 'Only a user who is logged in can create a token');
  if (!hasFreshLogin(caller, now))
    throw new GatewayError(
      'reauthentication_required',
      'A new token needs a password that was given within the last five minutes: log in again',
    );
  return user;
}

/** Nobody gives what they do not have. */
function checkScopes(scopes: readonly string[], caller: Caller): void {
  for (const scope of scopes) {
    if (!mayBeScope(scope))
      throw atFault('scopes', `"${scope.slice(0, 60)}" is not a permission that a token can have`);
    if (!caller.can(scope))
      throw new GatewayError('forbidden', `You do not have the permission ${scope} yourself`);
  }
}

/** One about a collection that no scope opens would narrow nothing, and is a slip. */
function checkSelectors(selectors: readonly string[], scopes: readonly string[]): void {
  for (const selector of selectors)
    if (!scopes.some((scope) => scope.startsWith(`${collectionOf(selector)}:`)))
      throw atFault('selectors', `"${selector.slice(0, 60)}" is about a collection that no scope opens`);
}

function automation(body: z.infer<typeof newToken>, owner: UserRecord, now: number): NewToken {
  const start = wholeSecond(now);
  const expiresAt =
    body.expires_at === undefined ? start + DEFAULT_DAYS * DAY_MS : wholeSecond(Date.parse(body.expires_at));
  if (expiresAt <= now) throw atFault('expires_at', 'this time is over');
  if (expiresAt > start + MOST_DAYS * DAY_MS)
    throw atFault('expires_at', `a token lives ${MOST_DAYS} days at most`);
  return {
    userId: owner.id,
    credentialVersion: owner.credentialVersion,
    roleVersion: owner.roleVersion,
    kind: 'automation',
    name: body.name,
    scopes: [...new Set(body.scopes)].sort(),
    labels: body.labels ?? {},
    cidrs: body.cidrs ?? null,
    selectors: body.selectors === undefined ? null : [...new Set(body.selectors)].sort(),
    expiresAt,
    maxExpiresAt: expiresAt,
    ttlSeconds: (expiresAt - start) / 1000,
    authAt: null,
  };
}

function tokenRow(token: TokenRecord, owner: UserRecord | null, caller: Caller): Row {
  return {
    id: token.id,
    kind: token.kind,
    user_id: token.userId,
    user: owner?.name ?? '',
    name: token.name,
    hint: token.hint,
    scopes: token.scopes,
    labels: token.labels,
    cidrs: token.cidrs,
    selectors: token.selectors,
    created_at: isoTime(token.createdAt),
    expires_at: isoTime(token.expiresAt),
    last_used_at: isoTimeOrNull(token.lastUsedAt),
    last_used_address: token.lastUsedAddress,
    current: token.id === caller.tokenId,
  };
}

function atFault(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
