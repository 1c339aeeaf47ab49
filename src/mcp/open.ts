import type { Caller } from '../http/resource.ts';
import type { Exchange } from '../http/server/server.ts';
import { type CallCounter, createCallCounter } from '../lib/call-counts.ts';
import { GatewayError } from '../lib/error.ts';
import type { Api, ApiBody } from './api.ts';

/** What the server asks of the management API: to authenticate clients, and to act on their behalf. */
export interface McpManagement {
  /** Authenticates the client. @throws GatewayError `unauthorized`, `forbidden` */
  admit(exchange: Exchange): Promise<Caller>;
  /** The body as JSON. @throws GatewayError */
  body(exchange: Exchange, caller: Caller): Promise<unknown>;
  refuse(exchange: Exchange, error: unknown): void;
  call(
    caller: Caller,
    call: { method: 'GET' | 'POST'; path: string; params: URLSearchParams; body?: object },
  ): Promise<{ status: number; body: object | null }>;
  watchEvents(caller: Caller, watch: Parameters<Api['watchEvents']>[0]): Promise<unknown[]>;
}

export interface McpInput {
  version: string;
  /** Lets a request in while the service runs. @throws GatewayError `service_stopped` */
  gate(exchange: Exchange): void;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Mcp extends Pick<CallCounter, 'counts'> {
  /** Answers a request at `/mcp`. Never throws. */
  serve(exchange: Exchange, management: McpManagement): Promise<void>;
  /** Speaks the protocol with itself. @throws what went wrong */
  selfTest(): Promise<string>;
}

export function isMcpPath(path: string): boolean {
  return path === '/mcp' || path === '/mcp/';
}

/** The MCP server of a gateway, over Streamable HTTP. The protocol's library is loaded with the first request. */
export function openMcp({ gate, now, report, version }: McpInput): Mcp {
  const { add: onCall, counts } = createCallCounter(now, report);
  return {
    async serve(exchange, management) {
      try {
        const caller = await management.admit(exchange);
        gate(exchange);
        const { answerMcp, sendRefusal } = await import('./http.ts');
        try {
          if (exchange.request.method !== 'POST') throw notAllowed(exchange);
          const body = await management.body(exchange, caller);
          await answerMcp(exchange, body, { version, api: apiOf(management, caller), onCall });
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          sendRefusal(exchange, error);
        }
      } catch (error) {
        management.refuse(exchange, error);
      }
    },
    counts,
    async selfTest() {
      const { countTools } = await import('./http.ts');
      const count = await countTools({ version, api: forNobody, onCall() {} });
      return `It answers itself, with ${count} tools`;
    },
  };
}

/** The management API on behalf of a client. */
function apiOf(management: McpManagement, caller: Caller): Api {
  return {
    can: caller.can,
    get: async (path, params = new URLSearchParams()) =>
      contentOf(await management.call(caller, { method: 'GET', path, params })),
    post: async (path, body) =>
      contentOf(await management.call(caller, { method: 'POST', path, params: new URLSearchParams(), body })),
    watchEvents: (watch) => management.watchEvents(caller, watch),
  };
}

/** What is offered is all that is asked of the server that tests itself. */
const forNobody: Api = {
  can: () => true,
  get: () => Promise.reject(new GatewayError('forbidden', 'This is a test')),
  post: () => Promise.reject(new GatewayError('forbidden', 'This is a test')),
  watchEvents: () => Promise.reject(new GatewayError('forbidden', 'This is a test')),
};

/** @throws GatewayError where an action said that it failed */
function contentOf({ body, status }: { status: number; body: object | null }): ApiBody {
  const content: ApiBody = { ...body };
  if (status >= 400)
    throw new GatewayError('conflict', String(content['message'] ?? `The answer was ${status}`));
  return content;
}

function notAllowed({ request, response }: Exchange): GatewayError {
  response.setHeader('allow', 'POST');
  return new GatewayError('method_not_allowed', `${request.method} is not served here: send POST`);
}
