import type { Principal } from '../access/authenticate.ts';
import { isObject, type JsonObject } from '../codecs/values.ts';
import { sendJson } from '../http/send.ts';
import type { Exchange } from '../http/server.ts';
import { GatewayError } from '../lib/error.ts';
import { earlierItems } from '../responses/chain.ts';
import type { FoundResponse } from '../responses/stored.ts';
import type { ProxyContext } from './context.ts';
import type { Surface } from './routes.ts';

type StoredSurface = Extract<Surface, { kind: 'stored-response' }>;

/**
 * Serves the responses that the gateway keeps: read, delete, list what they were made from.
 * @throws GatewayError `not_found` for any that this key did not make
 */
export async function serveStored(
  { responses }: Pick<ProxyContext, 'responses'>,
  exchange: Exchange,
  { id, part }: StoredSurface,
  { keyId }: Principal,
): Promise<void> {
  if (part === 'cancel')
    throw new GatewayError(
      'invalid_request',
      'Only a response that was created with background: true can be cancelled, and the gateway creates none',
    );
  const { method } = exchange.request;
  if (method === 'DELETE') {
    if (!(await responses.remove(id, keyId))) throw unknown(id);
    sendJson(exchange, 200, { id, object: 'response', deleted: true });
    return;
  }
  const found = await responses.get(id, keyId);
  if (found === null) throw unknown(id);
  if (part === 'input_items') {
    const items = await inputOf(found, responses, keyId);
    sendJson(exchange, 200, itemList(items, new URLSearchParams(exchange.query)));
    return;
  }
  if (new URLSearchParams(exchange.query).get('stream') === 'true')
    throw new GatewayError('invalid_request', 'A stored response is not streamed: leave out "stream"', {
      param: 'stream',
    });
  sendJson(exchange, 200, found.response);
}

function unknown(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `Response with id '${id.slice(0, 200)}' not found: the gateway keeps, for the key that asked, what it translated and what was not sent with store: false`,
  );
}

/** All items that the model was shown, with those of the responses before that are still there. */
async function inputOf(found: FoundResponse, memory: ProxyContext['responses'], keyId: string) {
  const earlier = await earlierItems({ memory, keyId }, found.previousId);
  return [...earlier, ...found.input].filter(isObject);
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
