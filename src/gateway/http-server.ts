import type { AnyExchange } from '../http/exchange.ts';
import { configuredLimit } from '../http/server/connection-limit.ts';
import { createHttpServer, type HttpServer } from '../http/server/server.ts';
import { createWebSockets, type WebSockets } from '../http/server/websocket.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import { describe } from '../lib/log.ts';
import { isManagementPath, refusalWithHeaders } from '../management/refusal.ts';
import { renderError } from '../proxy/answer/error.ts';
import { isModelPath, loggedPath, methodsOf, safePath } from '../proxy/inbound/routes.ts';
import { serveModels } from '../proxy/surface.ts';
import { createSessions } from '../proxy/websocket/session.ts';
import { serveUpgrade } from '../proxy/websocket/upgrade.ts';
import { type AccessLog, type ServedRequest, servedRequest } from '../telemetry/access-log.ts';
import type { GatewayMetrics } from '../telemetry/metrics/gateway-metrics.ts';
import type { OpenInput } from './open-input.ts';
import { isProbe, type Surfaces, serve, surfaceOf } from './surfaces.ts';

export interface GatewayServerInput extends Pick<OpenInput, 'config' | 'log'> {
  surfaces: Surfaces;
  metrics: Pick<GatewayMetrics, 'countHttp'>;
  /** Null where requests are not logged. */
  access: Pick<AccessLog, 'write'> | null;
}

/** Joins the HTTP server and its WebSockets to the surfaces, the metrics and the access log. It does not listen yet. */
export function createGatewayServer(input: GatewayServerInput): {
  server: HttpServer;
  webSockets: WebSockets;
} {
  const { access, config, log, metrics, surfaces } = input;
  const { context } = surfaces;
  const onError = (error: unknown, exchange: AnyExchange | null) => {
    const path = exchange === null ? null : safePath(exchange.path);
    log.error({ path, error: describe(error) }, 'a request failed inside the gateway');
  };
  const webSockets = createWebSockets({ maxBytes: config.limits.bodyBytes });
  const sessions = createSessions(
    {
      ...context,
      record(entry, trace, origin) {
        context.record(entry, trace, origin);
        access?.write(messageOf(origin.exchange, entry));
      },
    },
    onError,
  );
  const server = createHttpServer({
    limits: config.limits,
    renderError: (error, path, id, received) =>
      isManagementPath(path) && methodsOf(path) === null
        ? refusalWithHeaders(error, id)
        : renderError(error, path, id, received),
    connections: { ...configuredLimit(config, log), isProbe },
    fastPath: { takes: isModelPath, onRequest: (exchange) => serveModels(context, exchange) },
    onRequest: (exchange) => serve(surfaces, exchange),
    onHttp2Request: (exchange) => surfaces.management.eventService.serve(exchange),
    onUpgrade: (request, socket, head, id) =>
      serveUpgrade({ context, sessions, webSockets }, { request, socket, head, id }),
    onClosed(exchange) {
      const surface = surfaceOf(exchange.path);
      const status = exchange.response.headersSent ? exchange.response.statusCode : null;
      metrics.countHttp(surface, exchange.request.method, status);
      access?.write(
        servedRequest(exchange, { path: loggedPath(exchange.path), status, isProbe: surface === 'probes' }),
      );
    },
    onError,
  });
  return { server, webSockets };
}

/** What is logged of a request that came as a message of a WebSocket, whose bytes are not its own. */
function messageOf({ clock, id, path, request }: AnyExchange, { status }: LedgerEntry): ServedRequest {
  return {
    id,
    request,
    path: loggedPath(path),
    status,
    durationMs: performance.now() - clock,
    bytesOut: null,
    isProbe: false,
  };
}
