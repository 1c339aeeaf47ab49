import { checkDepth } from '../http/collection/input.ts';
import type { Caller } from '../http/resource.ts';
import { sendJson } from '../http/send.ts';
import type { Exchange } from '../http/server/server.ts';
import { type CallCounter, createCallCounter } from '../lib/call-counts.ts';
import { GatewayError } from '../lib/error.ts';
import { agentCard } from './card.ts';
import { type Completion, createCompletion } from './completion.ts';
import type { A2aServer } from './server.ts';
import type { Identity, SkillDeps } from './skill.ts';
import { askSkill } from './skills/ask.ts';
import { explainSkill } from './skills/explain.ts';
import { reportSkill } from './skills/report.ts';

/** What the server asks of the management API: to authenticate clients, and to read on their behalf. */
export interface A2aManagement {
  /** Checks where a request comes from. @throws GatewayError */
  guard(exchange: Exchange): Promise<void>;
  /** Authenticates the client. @throws GatewayError `unauthorized`, `forbidden` */
  admit(exchange: Exchange): Promise<Caller>;
  /** The body as JSON. @throws GatewayError */
  body(exchange: Exchange, caller: Pick<Caller, 'role'>): Promise<unknown>;
  refuse(exchange: Exchange, error: unknown): void;
  call(
    caller: Caller,
    call: { method: 'GET'; path: string; params: URLSearchParams },
  ): Promise<{ body: object | null }>;
}

export interface A2aInput {
  /** Lets a request in while the service runs. @throws GatewayError `service_stopped` */
  gate(exchange: Exchange): void;
  /** The gateway key that a request carries, and its id; null for none that is valid. */
  keyOf(exchange: Exchange): { id: string; text: string } | null;
  /** The gateway's address on this machine. */
  root(): string;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface A2a extends Pick<CallCounter, 'counts'> {
  /** Answers a request at `/a2a` or for the agent card. Never throws. */
  serve(exchange: Exchange, management: A2aManagement): Promise<void>;
  /** Reads its own card. @throws what went wrong */
  selfTest(): Promise<string>;
  /** Ends the tasks that are under way. */
  cancelAll(): void;
  /** The same, for the end of the gateway. */
  close(): Promise<void>;
}

const CARD_PATH = '/.well-known/agent-card.json';

export function isA2aPath(path: string): boolean {
  return path === '/a2a' || path === '/a2a/' || path === CARD_PATH;
}

/** The gateway as an agent to other agents. The protocol's library is loaded with the first request. */
export function openA2a(input: A2aInput): A2a {
  const { gate, keyOf, now, report, root } = input;
  const { add: onCall, counts } = createCallCounter(now, report);
  let completion: Completion | null = null;
  let server: A2aServer | null = null;
  const started = async (management: A2aManagement): Promise<A2aServer> => {
    const { createA2aServer } = await import('./server.ts');
    if (server !== null) return server;
    completion = createCompletion(root);
    const deps: SkillDeps = {
      complete: completion.complete,
      read: async (caller, path, params) => ({
        ...(await management.call(caller, { method: 'GET', path, params })).body,
      }),
    };
    const skills = {
      'ask-a-model': askSkill(deps, now),
      explain: explainSkill(deps),
      report: reportSkill(deps, now),
    };
    server = createA2aServer({ skills, onCall });
    return server;
  };
  return {
    counts,
    async serve(exchange, management) {
      try {
        await management.guard(exchange);
        if (exchange.path === CARD_PATH) {
          gate(exchange);
          sendCard(exchange);
          return;
        }
        const identity = await identified(exchange, management, keyOf);
        gate(exchange);
        if (exchange.request.method !== 'POST') throw notAllowed(exchange, 'POST');
        const body = await management.body(exchange, identity.caller ?? { role: 'viewer' });
        checkDepth(body);
        if (typeof body !== 'object' || body === null || Array.isArray(body))
          throw new GatewayError('invalid_request', 'Send one JSON-RPC request');
        await (await started(management)).answer(exchange, { ...body }, identity);
      } catch (error) {
        management.refuse(exchange, error);
      }
    },
    async selfTest() {
      const { AgentCard } = await import('@a2a-js/sdk');
      const { skills } = AgentCard.fromJSON(agentCard(root()));
      return `Its card has ${skills.length} skills`;
    },
    cancelAll: () => server?.cancelAll(),
    async close() {
      server?.cancelAll();
      await completion?.close();
    },
  };
}

/** Who sends a message: by a gateway key, by a login, or by both. @throws GatewayError `unauthorized` */
async function identified(
  exchange: Exchange,
  management: A2aManagement,
  keyOf: A2aInput['keyOf'],
): Promise<Identity> {
  const key = keyOf(exchange);
  if (key === null) {
    const caller = await management.admit(exchange);
    return { owner: `user ${caller.userId}`, key: null, caller };
  }
  const { authorization, 'x-auth-token': token } = exchange.request.headers;
  const alsoLogin = token !== undefined || (authorization !== undefined && !authorization.includes(key.text));
  const caller = alsoLogin ? await management.admit(exchange) : null;
  return { owner: `key ${key.id}${caller === null ? '' : ` ${caller.userId}`}`, key: key.text, caller };
}

function sendCard(exchange: Exchange): void {
  const { method } = exchange.request;
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(exchange, 'GET, HEAD');
  sendJson(exchange, 200, agentCard(originOf(exchange)), {
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  });
}

/** Where the client reached the gateway. The name was checked; a proxy that ends TLS says so. */
function originOf({ request: { headers } }: Exchange): string {
  const tls =
    String(headers['x-forwarded-proto'] ?? '')
      .split(',')[0]
      ?.trim() === 'https';
  return `${tls ? 'https' : 'http'}://${headers.host}`;
}

function notAllowed({ request, response }: Exchange, allow: string): GatewayError {
  response.setHeader('allow', allow);
  return new GatewayError('method_not_allowed', `${request.method} is not served here: send ${allow}`);
}
