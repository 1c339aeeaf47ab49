import { checkParameters } from '../../http/collection/query.ts';
import type { Caller } from '../../http/resource.ts';
import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import type { ApiPath } from '../api-path.ts';
import { endedLogin } from '../collection/routes.ts';
import type { ManagementContext } from '../context.ts';
import { idempotencyKey } from '../guard/idempotency.ts';
import { bodyBytes } from '../request-body.ts';
import type { EventsCall, EventsRoute } from './route.ts';
import { eventsRoutes } from './routes.ts';

/** A configuration of a thousand routers takes a tenth of it. */
const MOST_BODY_BYTES = 4_194_304;

/**
 * Serves `/api/events` and what is below it.
 * @returns null when the answer was sent already
 * @throws GatewayError what is refused, in the order of the collections
 */
export async function serveEvents(
  context: ManagementContext,
  exchange: Exchange,
  path: ApiPath,
  caller: Caller,
): Promise<Answer | null> {
  const { request } = exchange;
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const routes = routesAt(path);
  if (method === 'OPTIONS') return { status: 204, body: null, headers: { allow: allowed(path) } };
  const match = routes.find(({ route }) => route.method === method);
  if (match === undefined)
    throw new GatewayError('invalid_request', `${method} is not supported for this path`);
  const { id, route } = match;
  const body = await bodyBytes(exchange, caller, MOST_BODY_BYTES);
  await demandPermission(context, caller, route, id);
  const params = new URLSearchParams(exchange.query);
  checkParameters(params, new Set(route.parameters.map(({ name }) => name)));
  const { events } = context;
  const call: EventsCall = { context, events, exchange, caller, id, prefix: path.prefix, params, body };
  const key = route.once === true ? idempotencyKey(request.headers['idempotency-key']) : null;
  if (key === null) return route.run(call);
  const content = [method, route.path, id, String(params), body.toString('base64')];
  return context.once.answer({ userId: caller.userId, key, content }, async () => {
    const answer = await route.run(call);
    return answer ?? { status: 200, body: null, headers: {} };
  });
}

/** The verbs that are served at a path, for `Allow`. @throws GatewayError `not_found` */
export function eventsVerbs(path: ApiPath): string[] {
  return routesAt(path).map(({ route }) => route.method);
}

const allowed = (path: ApiPath): string => [...eventsVerbs(path), 'HEAD', 'OPTIONS'].join(', ');

/** What is served at a path, by each of its methods. @throws GatewayError `not_found` */
function routesAt({ rest }: ApiPath): { route: EventsRoute; id: string }[] {
  const routes = eventsRoutes.flatMap((route) => {
    const id = idIn(rest, route.path);
    return id === null ? [] : [{ route, id }];
  });
  if (routes.length > 0) return routes;
  throw new GatewayError(
    'not_found',
    'There is no such path below /api/events: /api/openapi.json has all of them',
  );
}

/** What stands for `{id}` in a path, or the empty text; null where the path is another one. */
function idIn(rest: readonly string[], template: string): string | null {
  const parts = template.split('/').filter((part) => part !== '');
  if (parts.length !== rest.length) return null;
  let id = '';
  for (const [index, part] of parts.entries()) {
    const segmentValue = rest[index] ?? '';
    if (!part.startsWith('{id}')) {
      if (segmentValue !== part) return null;
      continue;
    }
    const suffix = part.slice('{id}'.length);
    if (!segmentValue.endsWith(suffix) || segmentValue.length === suffix.length) return null;
    id = segmentValue.slice(0, segmentValue.length - suffix.length);
    if (suffix === '' && id.includes(':')) return null;
  }
  return id;
}

async function demandPermission(
  { audit }: ManagementContext,
  caller: Caller,
  { operation, permission }: EventsRoute,
  id: string,
): Promise<void> {
  if (!caller.can(permission)) {
    await audit({
      kind: 'change',
      change: {
        caller,
        collection: 'events',
        action: operation().operationId,
        target: id === '' ? null : id.slice(0, 100),
        before: null,
        after: null,
        input: null,
        outcome: 'denied',
        reason: 'forbidden',
      },
    });
    throw new GatewayError('forbidden', `This needs the permission ${permission}`);
  }
  if (caller.ended) throw endedLogin();
}
