import { isLoopbackAddress } from '../../access/client-address.ts';
import { sendWhole } from '../../http/send.ts';
import { checkHost } from '../../http/server/allowed-hosts.ts';
import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import { expositionFor } from '../../telemetry/metrics/exposition.ts';
import { admit } from '../app.ts';
import type { ManagementContext } from '../context.ts';
import { statusOf } from '../events/status.ts';
import { securityHeaders } from '../guard/security-headers.ts';
import { requestFacts } from '../request-body.ts';
import { eventMetrics } from './event-metrics.ts';

const permission = 'metrics:read';

/**
 * Answers `GET /metrics` in Prometheus's text format or OpenMetrics: to programs on this machine, and to others with the permission.
 * @throws GatewayError
 */
export async function serveMetrics(context: ManagementContext, exchange: Exchange): Promise<void> {
  const { method } = exchange.request;
  if (method !== 'GET' && method !== 'HEAD')
    throw new GatewayError('method_not_allowed', `${method} is not served here`);
  if (isLocal(context, exchange)) checkHost(exchange.request, context.hosts);
  else {
    const caller = await admit(context, exchange);
    if (!caller.can(permission))
      throw new GatewayError('forbidden', `This needs the permission ${permission}`);
  }
  const status = await statusOf(context.events.opened());
  const { contentType, write } = expositionFor(exchange.request.headers.accept);
  const text = write([...context.metrics.families(), ...eventMetrics(status)]);
  sendWhole(exchange, 200, text, { ...securityHeaders, 'content-type': contentType, vary: 'accept' });
}

/** What a proxy on this machine passes on comes from elsewhere. */
function isLocal(context: ManagementContext, exchange: Exchange): boolean {
  const { headers } = exchange.request;
  if (headers['x-auth-token'] !== undefined || headers.authorization !== undefined) return false;
  const forwarded = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
  return !forwarded && isLoopbackAddress(requestFacts(context, exchange).address);
}
