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
import { type CreateMessage, readMessage } from './message.ts';
import { WebSocketResponseSink } from './response-sink.ts';
import { warmUp } from './warm-up.ts';

/** As many answers as OpenAI gives at a time on one connection (WebSocket mode). */
const MAX_RUNNING = 16;
/** Requests that may wait behind others; all of them together may be as large as one. */
const MAX_WAITING = 64;
/** Of what all connections remember of their own, in UTF-16 units of JSON. What was used last stays. */
const MAX_REMEMBERED = 64 * 1024 ** 2;

/** What a connection was opened with. */
export interface UpgradeRequest {
  request: RequestHead;
  match: Match;
  path: string;
  query: string;
}

/** Serves requests of the responses format on WebSockets. */
export interface Sessions {
  open(socket: TextSocket, upgrade: UpgradeRequest): TextHandler;
}

type OnError = (error: unknown, exchange: AnyExchange) => void;

/** @param onError is called with faults of the gateway's own */
export function createSessions(context: SurfaceContext, onError: OnError): Sessions {
  const recent = createLruCache<string>(MAX_REMEMBERED, (text) => text.length);
  const nextId = createRequestIds();
  return {
    open: (socket, upgrade) => session({ context, nextId, onError, recent, socket, upgrade }),
  };
}

interface SessionInput {
  context: SurfaceContext;
  onError: OnError;
  nextId(now: number): string;
  recent: LruCache<string>;
  socket: TextSocket;
  upgrade: UpgradeRequest;
}

/**
 * One connection: its requests run one after the other, and beside each other where they name streams of their own
 * (`stream_id`). Each is a model request like any other, with its own check of the key and its own ledger entry.
 */
function session(input: SessionInput): TextHandler {
  const { context, recent, socket } = input;
  const memory = connectionMemory(context.responses, recent, newId('ws'));
  const waiting: CreateMessage[] = [];
  const running = new Map<string | null, WebSocketResponseSink>();

  const admit = (message: CreateMessage): void => {
    const bytes = waiting.reduce((sum, { body }) => sum + body.length, message.body.length);
    const full = waiting.length >= MAX_WAITING || bytes > context.config.limits.bodyBytes;
    if (waiting.length === 0 || !full) waiting.push(message);
    else throw new GatewayError('rate_limit_exceeded', 'Too many requests wait on this connection already');
  };
  const pump = (): void => {
    for (const message of [...waiting]) {
      if (running.size >= MAX_RUNNING || running.has(message.streamId)) continue;
      waiting.splice(waiting.indexOf(message), 1);
      start(message);
    }
    if (running.size === 0) socket.settled();
  };
  const start = (message: CreateMessage): void => {
    const { streamId } = message;
    const request = answerMemory(memory, message);
    const sink = new WebSocketResponseSink({ socket, streamId, onResponse: request?.onResponse ?? null });
    running.set(streamId, sink);
    sink.on('close', () => {
      running.delete(streamId);
      pump();
    });
    const exchange = exchangeOf(input, sink);
    serve(input, { message, exchange, memory, prepare: request?.prepare ?? null }).catch((error) =>
      refuse(input, exchange, error),
    );
  };
  return {
    onMessage(bytes, isText) {
      try {
        if (!isText)
          throw new GatewayError('invalid_request', 'Send text messages: a binary one is not read');
        const message = readMessage(bytes);
        if (message === null) return;
        admit(message);
        pump();
      } catch (error) {
        refuse(
          input,
          exchangeOf(input, new WebSocketResponseSink({ socket, streamId: null, onResponse: null })),
          error,
        );
      }
    },
    onDrain() {
      for (const sink of running.values()) sink.drained();
    },
    onClose() {
      waiting.length = 0;
      for (const sink of running.values()) sink.disconnect();
      memory.forget();
    },
    busy: () => running.size > 0 || waiting.length > 0,
  };
}

function exchangeOf(
  { context, nextId, upgrade }: SessionInput,
  response: WebSocketResponseSink,
): AnyExchange {
  const { path, query, request } = upgrade;
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

interface SessionRequest {
  message: CreateMessage;
  exchange: AnyExchange;
  memory: ConnectionMemory;
  prepare: AnswerMemory['prepare'] | null;
}

async function serve(
  { context, socket, upgrade }: SessionInput,
  { message, exchange, memory, prepare }: SessionRequest,
): Promise<void> {
  if (socket.draining)
    throw new GatewayError('shutting_down', 'The gateway is shutting down: send the request again', {
      retryAfter: 5,
    });
  context.gate(exchange);
  // The key may have been removed since the connection was opened.
  const principal = principalOf(context, exchange, upgrade.match);
  const here = { ...context, responses: memory };
  await prepare?.(exchange, principal);
  if (message.warmUp) await warmUp(here, exchange, message, principal);
  else {
    const read = () => Promise.resolve([message.body]);
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
interface AnswerMemory {
  /** Before the request is served: who asks, and what its references stand for. */
  prepare(exchange: AnyExchange, principal: Principal): Promise<void>;
  onResponse(response: JsonObject): void;
}

/**
 * Responses with `store: false` are remembered on the connection alone; others are kept as those of
 * any request. Of a warm-up there is nothing but its input.
 */
function answerMemory(
  memory: ConnectionMemory,
  { request, warmUp: warms }: CreateMessage,
): AnswerMemory | null {
  if (!warms && request['store'] !== false) return null;
  let origin: { createdAt: number; keyId: string; input: unknown[] } | null = null;
  return {
    async prepare({ startedAt }, { keyId }) {
      try {
        const input = await resolved(inputItems(request['input']), [], { memory, keyId });
        origin = { createdAt: startedAt, keyId, input };
      } catch (error) {
        // An input that is none is for others to refuse.
        if (!(error instanceof GatewayError)) throw error;
      }
    },
    onResponse(response) {
      const id = textOf(response['id']);
      const empty = listOf(response['output']).length === 0;
      if (origin === null || id === '' || (empty && !warms)) return;
      try {
        memory.remember({
          id,
          createdAt: origin.createdAt,
          keyId: origin.keyId,
          connectionId: '',
          response,
          model: textOf(request['model']),
          previousId: textOf(request['previous_response_id']) || null,
          input: withIds(origin.input, id),
        });
      } catch (error) {
        // Nested deeper than JSON can be written.
        if (!(error instanceof RangeError)) throw error;
      }
    },
  };
}
