import type { Principal } from '../access/authenticate.ts';
import { isObject, type JsonObject } from '../codecs/json/values.ts';
import { encodeFramesOf } from '../codecs/openai-responses/answer/encode.ts';
import { DONE_FRAME } from '../codecs/openai-shared/choice-stream.ts';
import type { Target } from '../combos/routing/resolve.ts';
import { sendJson } from '../http/send.ts';
import type { HttpExchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { earlierItems, OTHER_KEY } from '../responses/chain.ts';
import type { SizedResponse } from '../responses/stored.ts';
import type { ProxyContext } from './context.ts';
import { refuseLoop } from './inbound/loop.ts';
import type { Surface } from './inbound/routes.ts';
import { countLateUse } from './metering/late-use.ts';
import { passOn } from './relay/pass-on.ts';
import type { LateAnswer } from './request/answer-usage.ts';
import { extendPath, requestTo } from './upstream/request.ts';

type StoredSurface = Extract<Surface, { kind: 'stored-response' }>;

/**
 * Serves the responses that the gateway keeps: read, also as the stream that it was, delete, list what they were made
 * from. Those that a provider keeps are asked for at the connection that made them.
 * @throws GatewayError `not_found` for any that this key did not make
 */
export async function serveStored(
  context: ProxyContext,
  exchange: HttpExchange,
  surface: StoredSurface,
  { keyId }: Principal,
): Promise<void> {
  const { responses } = context;
  const { id, part } = surface;
  const stored = await responses.get(id, keyId);
  if (stored === null) return serveForeign(context, exchange, surface, keyId);
  if (exchange.request.method === 'DELETE') {
    if (!(await responses.remove(id, keyId))) throw unknown(id);
    sendJson(exchange, 200, { id, object: 'response', deleted: true });
    return;
  }
  if (stored === 'unreadable') throw new GatewayError('not_found', `Response with id '${id}' ${OTHER_KEY}`);
  if (part === 'cancel')
    throw new GatewayError(
      'invalid_request',
      'Only a response that was created with background: true can be cancelled, and the gateway creates none',
    );
  const query = new URLSearchParams(exchange.query);
  if (part === 'input_items') {
    const items = await inputOf(stored, responses, keyId);
    sendJson(exchange, 200, itemList(items, query));
  } else if (query.get('stream') === 'true') sendAgain(exchange, stored.response, query);
  else sendJson(exchange, 200, stored.response);
}

/** The events of a finished response, after the one that the client has seen last. */
function sendAgain(
  { id, request, response }: HttpExchange,
  storedResponse: JsonObject,
  query: URLSearchParams,
): void {
  const lastSeen = Number(query.get('starting_after') ?? -1);
  if (!Number.isInteger(lastSeen)) throw wrongQuery('starting_after', 'the number of an event');
  // Events are numbered from 0.
  const frames = encodeFramesOf(storedResponse)
    .split(/(?<=\n\n)/)
    .slice(lastSeen + 1);
  const head = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  response.writeHead(200, { ...head, 'x-request-id': id });
  response.end(request.method === 'HEAD' ? '' : `${frames.join('')}${DONE_FRAME}`);
}

/** What the API reference has for these paths; anything else in the query stays here. */
const apiParameters = [
  'include',
  'include[]',
  'include_obfuscation',
  'stream',
  'starting_after',
  'limit',
  'order',
  'after',
];

/** Asks the connection that made a response for it. @throws GatewayError `not_found`, and those of `passOn` */
async function serveForeign(
  context: ProxyContext,
  exchange: HttpExchange,
  { id, part }: StoredSurface,
  keyId: string,
): Promise<void> {
  const place = await context.places.find(id, keyId);
  if (place === null || place === 'foreign') throw unknown(id);
  const route = context.snapshot().routes.byName.get(place.connectionId);
  if (route?.provider.formats['openai-responses'] === undefined)
    throw new GatewayError(
      'not_found',
      `Response with id '${id}' is stored at an account whose connection is inactive or was removed`,
    );
  refuseLoop(exchange, context.instance);
  const target: Target = { ...route, model: place.id, format: 'openai-responses' };
  const query = [...new URLSearchParams(exchange.query)].filter(([name]) => apiParameters.includes(name));
  const end = `/${encodeURIComponent(id)}${part === 'whole' ? '' : `/${part}`}`;
  const deletes = exchange.request.method === 'DELETE';
  const method = part === 'cancel' ? {} : { method: deletes ? ('DELETE' as const) : ('GET' as const) };
  const request = requestTo(context, {
    exchange,
    target,
    body: [],
    freshSocket: false,
    translated: false,
    pathOf: (path) => extendPath(path, query.length === 0 ? end : `${end}?${new URLSearchParams(query)}`),
  });
  const late: { answer: LateAnswer | null } = { answer: null };
  const onUsage = (answer: LateAnswer) => {
    late.answer = answer;
  };
  const status = await passOn(context, {
    exchange,
    target,
    model: place.model,
    onUsage,
    request: { ...request, ...method },
  });
  if (deletes && status < 300) await context.places.forget(id, keyId);
  if (part !== 'input_items' && late.answer !== null && place.requestId !== null)
    await countLateUse(context, place.requestId, target, late.answer);
}

function unknown(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `Response with id '${id.slice(0, 200)}' not found: there is none that this gateway key made, or it was not to be stored, was deleted or has expired`,
  );
}

/** All items that the model was shown, with those of the responses before that are still there. */
async function inputOf(stored: SizedResponse, memory: ProxyContext['responses'], keyId: string) {
  const earlier = await earlierItems({ memory, keyId }, stored.previousId);
  return [...earlier, ...stored.input].filter(isObject);
}

const MAX_ITEMS = 100;
const DEFAULT_ITEMS = 20;

/** A page of items (OpenAI API reference, "List input items"): the last first unless asked otherwise. */
export function itemList(items: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const limit = Number(query.get('limit') ?? DEFAULT_ITEMS);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ITEMS) throw wrongQuery('limit', '1 to 100');
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw wrongQuery('order', '"asc" or "desc"');
  const ordered = order === 'asc' ? items : items.toReversed();
  const after = query.get('after');
  const start = after === null ? 0 : ordered.findIndex((item) => item['id'] === after) + 1;
  if (after !== null && start === 0) throw wrongQuery('after', 'the id of an item of this list');
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: start + limit < ordered.length,
  };
}

function wrongQuery(param: string, must: string): GatewayError {
  return new GatewayError('invalid_request', `"${param}" must be ${must}`, { param });
}
