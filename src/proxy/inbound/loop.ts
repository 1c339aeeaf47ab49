import type { AnyExchange } from '../../http/exchange.ts';
import { GatewayError } from '../../lib/error.ts';

/** Lists the gateways that a request has passed, so that one pointed at itself is noticed. */
export const viaHeader = 'x-gateway-via';

/** @throws GatewayError `loop_detected` for a request that has passed this gateway before */
export function refuseLoop(exchange: Pick<AnyExchange, 'request'>, instance: string): void {
  const via = exchange.request.headers[viaHeader];
  if (typeof via !== 'string' || !via.split(',').some((hop) => hop.trim() === instance)) return;
  throw new GatewayError(
    'loop_detected',
    "This gateway received its own request: a connection's base URL points back at it",
  );
}
