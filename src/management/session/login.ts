import type { Caller } from '../../http/resource.ts';
import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import type { AuditEvent, ManagementContext } from '../context.ts';
import { checkAccept } from '../guard/origin.ts';
import { notAllowed, requestFacts, unauthenticatedBody } from '../request-body.ts';

/** `GET /api/auth` gives a token, `DELETE` ends the caller's own (spec 3, section 4). */
export async function serveLogin(
  context: ManagementContext,
  exchange: Exchange,
  method: string,
  caller: Caller,
): Promise<Answer> {
  const { audit, auth } = context;
  const who = { ...requestFacts(context, exchange), caller, userId: caller.userId };
  const done = { outcome: 'success', reason: null } as const;
  if (method === 'DELETE') {
    await refusalsNoted(context, who, () => auth.end(caller));
    await audit({ kind: 'logout', ...who, target: caller.tokenId, ...done });
    return { status: 204, body: null, headers: {} };
  }
  // A HEAD must not hand out what its answer cannot show.
  if (method !== 'GET') throw notAllowed(method);
  checkAccept(exchange.request);
  const requesterType = new URLSearchParams(exchange.query).get('requester_type') ?? 'api';
  const issued = await refusalsNoted(context, who, () => auth.issue(caller, requesterType));
  await audit({ kind: 'login', ...who, target: issued.id, ...done });
  const expires_on = `${new Date(issued.expiresAt).toISOString().slice(0, 19)}Z`;
  return {
    status: 200,
    body: {
      auth_token: issued.token,
      expires_on,
      token_ttl: issued.ttlSeconds,
      ...(issued.requesterType === 'api' ? {} : { requester_type: issued.requesterType }),
    },
    headers: {},
  };
}

/** `POST /api/setup {code, password}` makes the first admin. */
export async function serveSetup(
  context: ManagementContext,
  exchange: Exchange,
  method: string,
): Promise<Answer> {
  if (method !== 'POST') throw notAllowed(method);
  const who = { ...requestFacts(context, exchange), userId: null };
  // Nothing of the body is read for those who cannot set up anything.
  await refusalsNoted(context, who, () => context.auth.checkSetUp(who.address));
  const body = await unauthenticatedBody(exchange);
  const { code, password } = Object(body) as Record<string, unknown>;
  if (typeof code !== 'string' || typeof password !== 'string')
    throw new GatewayError('invalid_request', 'Send {"code", "password"}: the code is printed by the server');
  await refusalsNoted(context, who, () => context.auth.setUp({ code, password }, who.address));
  await context.audit({
    kind: 'setup',
    ...who,
    target: 'admin',
    outcome: 'success',
    reason: null,
  });
  return { status: 200, body: { success: true, message: 'The user "admin" can log in now' }, headers: {} };
}

/** Runs a login or a logout, and records its refusal. */
async function refusalsNoted<T>(
  { audit }: ManagementContext,
  who: Pick<LoginEvent, 'address' | 'caller' | 'requestId' | 'userId'>,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const reason = error instanceof GatewayError ? error.code : 'internal_error';
    await audit({ kind: 'refused', ...who, target: null, outcome: 'denied', reason });
    throw error;
  }
}

type LoginEvent = Exclude<AuditEvent, { kind: 'change' }>;
