import { AgentCard, formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  DefaultRequestHandler,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
  validateVersion,
} from '@a2a-js/sdk/server';
import { sendJson } from '../http/send.ts';
import type { Exchange } from '../http/server/server.ts';
import { agentCard } from './card.ts';
import { createExecutor } from './executor.ts';
import type { Identity, Skill, SkillId } from './skill.ts';
import { createTasks } from './tasks.ts';

export interface A2aServerInput {
  skills: Readonly<Record<SkillId, Skill>>;
  onCall(fault: unknown): void;
}

export interface A2aServer {
  /** Answers one JSON-RPC request, whole or as a stream. @param body as JSON */
  answer(exchange: Exchange, body: Record<string, unknown>, identity: Identity): Promise<void>;
  /** Ends all tasks that are under way. */
  cancelAll(): void;
}

type Handler = JsonRpcTransportHandler | LegacyJsonRpcTransportHandler;
type Answer = Awaited<ReturnType<Handler['handle']>>;

const IDENTITY = 'identity';
/** The version of clients that name none: 0.3 had no header for it. */
const LEGACY = '0.3';

/** The protocol's part: JSON-RPC in the versions 1.0 and 0.3, tasks and streams. */
export function createA2aServer({ onCall, skills }: A2aServerInput): A2aServer {
  const tasks = createTasks();
  const executor = createExecutor({ skills, tasks, identityOf, onTask: onCall });
  // The address in it is of no account here: clients read the card that is served.
  const card = AgentCard.fromJSON(agentCard('http://localhost'));
  const requests = new DefaultRequestHandler(card, tasks, executor);
  const handlers = {
    current: new JsonRpcTransportHandler(requests),
    legacy: new LegacyJsonRpcTransportHandler(requests),
  };
  return {
    cancelAll: executor.cancelAll,
    async answer(exchange, body, identity) {
      const version = headerOf(exchange, 'a2a-version') ?? LEGACY;
      const legacy = version === LEGACY;
      const failed = (error: unknown) => ({
        jsonrpc: '2.0',
        id: idOf(body),
        error: legacy
          ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
          : JsonRpcTransportHandler.mapToJSONRPCError(error),
      });
      try {
        const context = new ServerCallContext({
          user: { isAuthenticated: true, userName: identity.owner },
          requestedVersion: version,
          state: new Map([[IDENTITY, identity]]),
        });
        validateVersion(version, card, 'JSONRPC');
        const handler: Handler = legacy ? handlers.legacy : handlers.current;
        const answer: Answer = await handler.handle(body, context);
        if (Symbol.asyncIterator in answer) await stream(exchange, answer, failed);
        else sendJson(exchange, 200, answer);
      } catch (error) {
        sendJson(exchange, 200, failed(error));
      }
    },
  };
}

function identityOf({ context }: RequestContext): Identity {
  return context.state.get(IDENTITY) as Identity;
}

/** Sends events as they come. A client that leaves does not end its task: it may ask for it later. */
async function stream(
  { id, response }: Exchange,
  events: AsyncIterable<object>,
  failed: (error: unknown) => object,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  // What fails before the first event is an ordinary answer.
  const first = await iterator.next();
  response.writeHead(200, { ...SSE_HEADERS, 'x-request-id': id, 'x-accel-buffering': 'no' });
  try {
    for (let next = first; next.done !== true && !response.destroyed; next = await iterator.next())
      if (!response.write(formatSSEEvent(next.value))) await drained(response);
  } catch (error) {
    response.write(formatSSEErrorEvent(failed(error)));
  } finally {
    response.end();
  }
}

function drained(response: Exchange['response']): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}

function headerOf({ request }: Exchange, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value.slice(0, 20) : null;
}

function idOf({ id }: Record<string, unknown>): string | number | null {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
