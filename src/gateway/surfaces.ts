import { type A2a, isA2aPath } from '../a2a/open.ts';
import { isDashboardPath } from '../dashboard/paths.ts';
import { type Dashboard, leadToDashboard, wantsPage } from '../dashboard/serve.ts';
import { sendJson } from '../http/send.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { isEventServicePath } from '../management/events/connect/paths.ts';
import type { Management } from '../management/open.ts';
import { isManagementPath } from '../management/refusal.ts';
import { isMcpPath, type Mcp } from '../mcp/open.ts';
import { isModelPath, safePath } from '../proxy/inbound/routes.ts';
import { type SurfaceContext, serveModels } from '../proxy/surface.ts';
import type { Services } from '../services/open.ts';
import type { HttpSurface } from '../telemetry/metrics/http-metrics.ts';
import { afterFlush, type WorkerPool } from './worker-pool.ts';

/** What serves the paths of the gateway. */
export interface Surfaces {
  context: SurfaceContext;
  management: Management;
  mcp: Mcp;
  a2a: A2a;
  dashboard: Dashboard;
  services: Pick<Services, 'readiness'>;
  pool: WorkerPool;
  /** Whether the gateway is about to stop. */
  isDraining(): boolean;
}

const MAX_SERVED_PATH = 2_000;

/** What is answered even when there are too many clients. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

export function isProbe(path: string): boolean {
  return probes.has(path);
}

/** Which surface serves a path, as `serve` decides it. */
export function surfaceOf(whole: string): HttpSurface {
  // What is served has short paths, and strangers send thousands of segments.
  const path = whole.slice(0, MAX_SERVED_PATH);
  if (isModelPath(path)) return 'models';
  if (isProbe(path) || path === '/api/hello' || path === '/metrics') return 'probes';
  if (isManagementPath(path) || isEventServicePath(path)) return 'management';
  if (isMcpPath(path)) return 'mcp';
  return isA2aPath(path) ? 'a2a' : 'other';
}

/** Serves every path of the gateway. @throws GatewayError `not_found`, and what the surfaces throw */
export function serve(surfaces: Surfaces, exchange: Exchange): Promise<void> | true {
  const { a2a, context, dashboard, management, mcp, pool } = surfaces;
  const served = serveModels(context, exchange);
  if (served !== null) return served;
  switch (exchange.path) {
    case '/healthz':
    case '/api/hello':
      sendJson(exchange, 200, { status: 'ok' });
      return true;
    case '/readyz':
      return serveReadiness(surfaces, exchange);
    case '/metrics':
      return afterFlush(pool, () => management.serveMetrics(exchange));
    default:
      if (isManagementPath(exchange.path)) return afterFlush(pool, () => management.serve(exchange));
      if (isEventServicePath(exchange.path)) return management.eventService.serve(exchange);
      if (isMcpPath(exchange.path)) return mcp.serve(exchange, management);
      if (isDashboardPath(exchange.path)) return dashboard.serve(exchange);
      if (exchange.path === '/' && wantsPage(exchange.request.headers)) {
        leadToDashboard(exchange);
        return true;
      }
      if (isA2aPath(exchange.path)) return a2a.serve(exchange, management);
      throw new GatewayError(
        'not_found',
        `Nothing is served at ${safePath(exchange.path).slice(0, 200)}: model endpoints are below /v1`,
      );
  }
}

function serveReadiness({ context, isDraining, services }: Surfaces, exchange: Exchange): true {
  const { checks, failing } = services.readiness();
  const draining = isDraining();
  const ready = !draining && failing.length === 0;
  const status = draining ? 'draining' : ready ? 'ok' : 'not ready';
  const { revision } = context.snapshot();
  sendJson(exchange, ready ? 200 : 503, {
    status,
    revision,
    ...(failing.length > 0 ? { failing, checks } : {}),
  });
  return true;
}
