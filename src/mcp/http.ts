import { createMcpHandler } from '@modelcontextprotocol/server';
import { checkDepth } from '../http/collection/input.ts';
import { sendJson, sendWhole } from '../http/send.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { createMcpServer, type McpServerInput } from './server.ts';

/** Of a request, what the protocol reads. The login stays outside. */
const protocolHeader = /^(accept|content-type|mcp-[a-z-]+)$/;

/**
 * Answers one request of Streamable HTTP. There are no sessions: each request is answered whole and by itself, so that it
 * does not matter which process of several gets it.
 * @param body as JSON
 * @throws GatewayError for what is no message
 */
export async function answerMcp(exchange: Exchange, body: unknown, input: McpServerInput): Promise<void> {
  checkDepth(body);
  // The protocol has had no batches since 2025-06-18, and one may ask for thousands of things at once.
  if (Array.isArray(body)) throw new GatewayError('invalid_request', 'Send one message, not a batch');
  const left = new AbortController();
  exchange.response.once('close', () => left.abort());
  const response = await send(headersOf(exchange), body, input, left.signal);
  const text = await response.text();
  const type = response.headers.get('content-type');
  sendWhole(exchange, response.status, text === '' ? null : text, {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(type === null ? {} : { 'content-type': type }),
  });
}

/** What the protocol says of a request that cannot be read: JSON-RPC's codes. */
export function sendRefusal(exchange: Exchange, { code, message, status }: GatewayError): void {
  const rpc = code === 'invalid_json' ? PARSE_ERROR : INVALID_REQUEST;
  sendJson(exchange, status, { jsonrpc: '2.0', id: null, error: { code: rpc, message } });
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** Asks a server for its tools, as a client would. @returns how many there are @throws for anything but a list */
export async function countTools(input: McpServerInput): Promise<number> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const response = await send(new Headers(headers), body, input, AbortSignal.timeout(SELF_TEST_MS));
  const text = await response.text();
  const line = text.split('\n').find((one) => one.startsWith('data: '));
  const { result } = JSON.parse(line?.slice('data: '.length) ?? text) as { result?: { tools?: unknown[] } };
  if (response.status !== 200 || !Array.isArray(result?.tools))
    throw new GatewayError('internal_error', `it answered ${response.status}`);
  return result.tools.length;
}

const SELF_TEST_MS = 10_000;

function send(
  headers: Headers,
  body: unknown,
  input: McpServerInput,
  signal: AbortSignal,
): Promise<Response> {
  // The protocol's library answers a request of the Fetch standard; the address is of no account.
  const request = new Request('http://gateway/mcp', { method: 'POST', headers, body: '{}', signal });
  const handler = createMcpHandler(() => createMcpServer(input), { maxSubscriptions: 0, keepAliveMs: 0 });
  return handler.fetch(request, { parsedBody: body });
}

function headersOf({ request }: Exchange): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (protocolHeader.test(name) && typeof value === 'string') headers.set(name, value);
  return headers;
}
