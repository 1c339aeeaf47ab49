import type { Principal } from '../../access/authenticate.ts';
import { type JsonObject, listOf, textOf } from '../../codecs/json/values.ts';
import type { AnyExchange, RequestHead } from '../../http/exchange.ts';
import { createRequestIds } from '../../http/server/request-id.ts';
import { resetConnection } from '../../http/server/reset.ts';
import type { TextHandler, TextSocket } from '../../http/server/websocket.ts';
import { GatewayError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import { resolved } from '../../responses/chain.ts';
import { type ConnectionMemory, connectionMemory } from '../../responses/connection-memory.ts';
import { inputItems, withIds } from '../../responses/continuation.ts';
import { createLruCache, type LruCache } from '../../responses/lru-cache.ts';
import { renderError } from '../answer/error.ts';
import type { Match } from '../inbound/routes.ts';
import { proxyBody } from '../proxy.ts';
import { principalOf, type SurfaceContext } from '../surface.ts';
import { type Created, readMessage } from './message.ts';
import { WebSocketResponseSink } from './response-sink.ts';
import { warmUp } from './warm-up.ts';

/** As many answers as OpenAI gives at a time on one connection (WebSocket mode). */
const MAX_RUNNING = 16;
/** Requests that may wait behind others; all of them together may be as large as one. */
const MAX_WAITING = 64;
/** Of what all connections remember of their own, in UTF-16 units of JSON. What was used last stays. */
const MAX_REMEMBERED = 64 * 1024 ** 2;

/** What a connection was opened with. */
export interface Upgraded {
  request: RequestHead;
  match: Match;
  path: string;
  query: string;
}

/** Serves requests of the responses format on WebSockets. */
export interface Sessions {
  open(socket: TextSocket, upgraded: Upgraded): TextHandler;
}

type OnError = (error: unknown, exchange: AnyExchange) => void;

/** @param onError is told of faults of the gateway's own */
export function createSessions(context: SurfaceContext, onError: OnError): Sessions {
  const recent = createLruCache<string>(MAX_REMEMBERED, (text) => text.length);
  const nextId = createRequestIds();
  return {
    open: (socket, upgraded) => session({ context, nextId, onError, recent, socket, upgraded }),
  };
}

interface SessionInput {
  context: SurfaceContext;
  onError: OnError;
  nextId(now: number): string;
  recent: LruCache<string>;
  socket: TextSocket;
  upgraded: Upgraded;
}

/**
 * One connection: its requests run one after the other, and beside each other where they name streams of their own
 * (`stream_id`). Each is a model request like any other, with its own check of the key and its own ledger entry.
 */
function session(input: SessionInput): TextHandler {
  const { context, recent, socket } = input;
  const memory = connectionMemory(context.responses, recent, newId('ws'));
  const waiting: Created[] = [];
  const running = new Map<string | null, WebSocketResponseSink>();

  const admit = (created: Created): void => {
    const bytes = waiting.reduce((sum, { body }) => sum + body.length, created.body.length);
    const full = waiting.length >= MAX_WAITING || bytes > context.config.limits.bodyBytes;
    if (waiting.length === 0 || !full) waiting.push(created);
    else throw new GatewayError('rate_limit_exceeded', 'Too many requests wait on this connection already');
  };
  const pump = (): void => {
    for (const created of [...waiting]) {
      if (running.size >= MAX_RUNNING || running.has(created.lane)) continue;
      waiting.splice(waiting.indexOf(created), 1);
      start(created);
    }
    if (running.size === 0) socket.settled();
  };
  const start = (created: Created): void => {
    const { lane } = created;
    const request = remembering(memory, created);
    const outlet = new WebSocketResponseSink({ socket, lane, answered: request?.answered ?? null });
    running.set(lane, outlet);
    outlet.on('close', () => {
      running.delete(lane);
      pump();
    });
    const exchange = exchangeOf(input, outlet);
    serve(input, { created, exchange, memory, prepare: request?.prepare ?? null }).catch((error) =>
      refuse(input, exchange, error),
    );
  };
  return {
    onMessage(bytes, isText) {
      try {
        if (!isText)
          throw new GatewayError('invalid_request', 'Send text messages: a binary one is not read');
        const created = readMessage(bytes);
        if (created === null) return;
        admit(created);
        pump();
      } catch (error) {
        refuse(
          input,
          exchangeOf(input, new WebSocketResponseSink({ socket, lane: null, answered: null })),
          error,
        );
      }
    },
    onDrain() {
      for (const outlet of running.values()) outlet.drained();
    },
    onClose() {
      waiting.length = 0;
      for (const outlet of running.values()) outlet.gone();
      memory.forget();
    },
    busy: () => running.size > 0 || waiting.length > 0,
  };
}

function exchangeOf(
  { context, nextId, upgraded }: SessionInput,
  response: WebSocketResponseSink,
): AnyExchange {
  const { path, query, request } = upgraded;
  const startedAt = context.now();
  return {
    slot: -1,
    request,
    response,
    id: nextId(startedAt),
    path,
    query,
    startedAt,
    clock: performance.now(),
  };
}

interface Served {
  created: Created;
  exchange: AnyExchange;
  memory: ConnectionMemory;
  prepare: Remembering['prepare'] | null;
}

async function serve(
  { context, socket, upgraded }: SessionInput,
  { created, exchange, memory, prepare }: Served,
): Promise<void> {
  if (socket.draining)
    throw new GatewayError('shutting_down', 'The gateway is shutting down: send the request again', {
      retryAfter: 5,
    });
  context.gate(exchange);
  // The key may have been removed since the connection was opened.
  const principal = principalOf(context, exchange, upgraded.match);
  const here = { ...context, responses: memory };
  await prepare?.(exchange, principal);
  if (created.warmUp) await warmUp(here, exchange, created, principal);
  else {
    const read = () => Promise.resolve([created.body]);
    await proxyBody(here, { exchange, read }, { format: 'openai-responses' }, principal);
  }
}

/** An error before there was any answer, as a message with its status. */
function refuse({ onError }: SessionInput, exchange: AnyExchange, cause: unknown): void {
  const { response } = exchange;
  if (!(cause instanceof GatewayError) || response.headersSent) onError(cause, exchange);
  const error =
    cause instanceof GatewayError
      ? cause
      : new GatewayError('internal_error', 'the gateway failed to answer; its log has the cause', { cause });
  if (response.headersSent) {
    resetConnection(response);
    return;
  }
  const { body, headers, status } = renderError(error, exchange.path, exchange.id);
  response.writeHead(status, { ...headers, 'x-request-id': exchange.id });
  response.end(JSON.stringify(body));
}

/** What it takes to remember an answer that is not kept elsewhere. */
interface Remembering {
  /** Before the request is served: who asks, and what its references stand for. */
  prepare(exchange: AnyExchange, principal: Principal): Promise<void>;
  answered(response: JsonObject): void;
}

/**
 * Responses that their request does not want stored are remembered on the connection alone; others are kept as those of
 * any request. Of a warm-up there is nothing but its input.
 */
function remembering(memory: ConnectionMemory, { request, warmUp: warms }: Created): Remembering | null {
  if (!warms && request['store'] !== false) return null;
  let asked: { createdAt: number; keyId: string; input: unknown[] } | null = null;
  return {
    async prepare({ startedAt }, { keyId }) {
      try {
        const input = await resolved(inputItems(request['input']), [], { memory, keyId });
        asked = { createdAt: startedAt, keyId, input };
      } catch (error) {
        // An input that is none is for others to refuse.
        if (!(error instanceof GatewayError)) throw error;
      }
    },
    answered(response) {
      const id = textOf(response['id']);
      const empty = listOf(response['output']).length === 0;
      if (asked === null || id === '' || (empty && !warms)) return;
      try {
        memory.remember({
          id,
          createdAt: asked.createdAt,
          keyId: asked.keyId,
          connectionId: '',
          response,
          model: textOf(request['model']),
          previousId: textOf(request['previous_response_id']) || null,
          input: withIds(asked.input, id),
        });
      } catch (error) {
        // Nested deeper than JSON can be written.
        if (!(error instanceof RangeError)) throw error;
      }
    },
  };
}
