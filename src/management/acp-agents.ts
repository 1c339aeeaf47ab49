import { unusableAgents } from '../agents/list.ts';
import { isObject } from '../http/collection/input.ts';
import type { Caller } from '../http/resource.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { Answer } from './answer.ts';
import type { ApiPath } from './api-path.ts';
import { jsonBody, notAllowed } from './request-body.ts';

/** The collection that has the agents. */
export const acpAgentsCollection = 'acp_agents';

/** Carries out a request to the collection of the agents. @throws GatewayError */
export type AskCollection = (request: {
  method: string;
  rest: readonly string[];
  params: URLSearchParams;
  body: unknown;
}) => Promise<Answer>;

/**
 * Serves `/api/acp/agents` and `/api/acp/agents/ID`: the collection `acp_agents` in another form, by the same permissions and
 * with the same records. The list has a summary; POST adds an agent, or does something to one that `id` names.
 * @throws GatewayError
 */
export async function serveAcpAgents(
  exchange: Exchange,
  path: ApiPath,
  caller: Caller,
  ask: AskCollection,
): Promise<Answer> {
  const [id, ...deeper] = restOf(path);
  if (deeper.length > 0) throw new GatewayError('not_found', 'Nothing is served below an agent');
  const method = exchange.request.method === 'HEAD' ? 'GET' : (exchange.request.method ?? 'GET');
  if (method === 'OPTIONS')
    return {
      status: 204,
      body: null,
      headers: { allow: [...acpAgentsVerbs(path), 'HEAD', 'OPTIONS'].join(', ') },
    };
  if (!acpAgentsVerbs(path).includes(method)) throw notAllowed(method);
  const params = new URLSearchParams(exchange.query);
  const body = await jsonBody(exchange, caller);
  if (id !== undefined) return ask({ method, rest: [id], params, body });
  if (method === 'GET') return listed(ask, params);
  if (method !== 'POST') return ask({ method, rest: [], params, body });
  if (!isObject(body) || body['action'] === undefined)
    return added(await ask({ method, rest: [], params, body }));
  const { action, id: named, ...others } = body;
  if (typeof named === 'string') return ask({ method, rest: [named], params, body: { action, ...others } });
  const answer = await ask({ method, rest: [], params, body });
  if (action !== 'refresh' || params.get('dry_run') === 'true') return answer;
  const list = await listed(ask, new URLSearchParams());
  return { ...list, body: { ...list.body, refreshed: true } };
}

/** The verbs that are served at a path, for `Allow`. */
export function acpAgentsVerbs(path: ApiPath): string[] {
  return restOf(path).length === 0 ? ['GET', 'POST'] : ['GET', 'PATCH', 'DELETE'];
}

/** What stands behind `/api/acp/agents`. @throws GatewayError `not_found` */
function restOf({ rest }: ApiPath): readonly string[] {
  const [name, ...below] = rest;
  if (name === 'agents') return below;
  throw new GatewayError('not_found', 'Below /api/acp only /api/acp/agents is served');
}

async function listed(ask: AskCollection, params: URLSearchParams): Promise<Answer> {
  const all = new URLSearchParams(params);
  all.set('expand', 'resources');
  const answer = await ask({ method: 'GET', rest: [], params: all, body: undefined });
  if (answer.status !== 200) return answer;
  const agents = agentsIn(answer);
  const count = (holds: (agent: Record<string, unknown>) => boolean) => agents.filter(holds).length;
  const summary = {
    total: agents.length,
    installed: count(({ installed }) => installed === true),
    not_found: count(({ installed }) => installed === false),
    built_in: count(({ built_in }) => built_in === true),
    custom: count(({ built_in }) => built_in === false),
    enabled: count(({ enabled }) => enabled === true),
    usable: count(({ usable }) => usable === true),
  };
  const unusable = unusableAgents.map((one) => ({ ...one }));
  return { status: 200, body: { agents, summary, unusable }, headers: {} };
}

function agentsIn({ body }: Answer): Record<string, unknown>[] {
  const resources = isObject(body) ? body['resources'] : [];
  return Array.isArray(resources) ? resources.filter(isObject) : [];
}

/** The one that was made, without the list around it. */
function added(answer: Answer): Answer {
  const results = isObject(answer.body) ? answer.body['results'] : [];
  const [only] = Array.isArray(results) ? results : [];
  return isObject(only) ? { ...answer, body: only } : answer;
}
