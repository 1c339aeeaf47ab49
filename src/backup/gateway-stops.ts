import { GatewayError } from '../lib/error.ts';

/** Why a backup ends that is being made while the gateway stops. */
export function gatewayStops(): GatewayError {
  return new GatewayError('service_stopped', 'The gateway stops, so the backup was not made');
}
