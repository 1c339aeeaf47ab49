import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '../../http/exchange.ts';
import { refuseUpgrade } from '../../http/send.ts';
import { originForm } from '../../http/server/server.ts';
import type { Handshake, WebSockets } from '../../http/server/websocket.ts';
import { GatewayError } from '../../lib/error.ts';
import { renderError } from '../answer/error.ts';
import { refuseDryRun } from '../dry-run.ts';
import { refuseLoop } from '../inbound/loop.ts';
import { matchPath } from '../inbound/routes.ts';
import { principalOf, type SurfaceContext } from '../surface.ts';
import type { Sessions, UpgradeRequest } from './session.ts';

export interface UpgradeInput {
  context: SurfaceContext;
  sessions: Sessions;
  webSockets: WebSockets;
}

/** Opens a WebSocket where requests of the responses format are served; elsewhere, and without a key, it refuses in HTTP. */
export function serveUpgrade(
  { context, sessions, webSockets }: UpgradeInput,
  handshake: Pick<Handshake, 'head' | 'id' | 'request' | 'socket'>,
): void {
  const { id, request, socket } = handshake;
  const { path, query } = pathOf(request.url ?? '/');
  const refuse = (error: GatewayError): void => {
    const { body, headers, status } = renderError(error, path, id, request.headers);
    refuseUpgrade(socket, status, body, { ...headers, 'x-request-id': id });
  };
  try {
    const upgrade = upgradeRequest(context, request, path, query);
    webSockets.accept({
      ...handshake,
      open: (opened) => sessions.open(opened, upgrade),
      refuse: (reason) => refuse(new GatewayError('invalid_request', `No WebSocket handshake: ${reason}`)),
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    refuse(error);
  }
}

/** @throws GatewayError `upgrade_required`, `invalid_api_key`, `loop_detected`, `invalid_request` */
function upgradeRequest(
  context: SurfaceContext,
  request: IncomingMessage,
  path: string,
  query: string,
): UpgradeRequest {
  const match = matchPath(path);
  const surface = match?.surface;
  if (match === null || surface?.kind !== 'relay' || surface.format !== 'openai-responses')
    throw new GatewayError(
      'upgrade_required',
      'WebSockets are served only at /v1/responses: send this request with POST',
    );
  principalOf(context, { request, query }, match);
  refuseLoop({ request }, context.instance);
  refuseDryRun(request);
  return { match, path, query, request: headOf(request) };
}

/** The head as that of each request on the connection: without what was said of the connection itself. */
function headOf({ headers, rawHeaders, socket }: IncomingMessage): RequestHead {
  const raw: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const forwarded = name.toLowerCase() === 'openai-beta' ? withoutTransport(value) : value;
    if (forwarded !== '' || value === '') raw.push(name, forwarded);
  }
  return { method: 'POST', headers, rawHeaders: raw, socket };
}

/** Codex and OpenAI's own libraries announce the transport as a beta; over POST that means nothing. */
function withoutTransport(beta: string): string {
  return beta
    .split(',')
    .filter((name) => !name.trim().startsWith('responses_websockets'))
    .join(',')
    .trim();
}

function pathOf(target: string): { path: string; query: string } {
  const origin = originForm(target);
  const mark = origin.indexOf('?');
  if (mark === -1) return { path: origin, query: '' };
  return { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}
