import { type TransportFault, transportFault } from '../../http/outbound/transport-fault.ts';
import { type ErrorCode, GatewayError } from '../../lib/error.ts';
import type { Failure } from '../request/failure.ts';

interface Row {
  code: ErrorCode;
  text: string;
  /** A fault of the connection, not of the answer. */
  transport: boolean;
}

const rows: Readonly<Record<Exclude<TransportFault, 'tls'>, Row>> = {
  'name-unknown': { code: 'upstream_unreachable', text: 'its name cannot be resolved', transport: true },
  'name-unresolved': {
    code: 'upstream_unreachable',
    text: 'its name cannot be resolved right now',
    transport: true,
  },
  refused: { code: 'upstream_unreachable', text: 'it refused the connection', transport: true },
  'no-route': { code: 'upstream_unreachable', text: 'no route leads to it', transport: true },
  'no-network': { code: 'upstream_unreachable', text: 'its network cannot be reached', transport: true },
  'connect-timeout': {
    code: 'upstream_timeout',
    text: 'it did not accept a connection in time',
    transport: true,
  },
  timeout: { code: 'upstream_timeout', text: 'the connection timed out', transport: true },
  'no-answer': { code: 'upstream_timeout', text: 'it gave no answer in time', transport: false },
  closed: {
    code: 'upstream_cut',
    text: 'it closed the connection before its answer was complete',
    transport: true,
  },
  'closed-while-sending': {
    code: 'upstream_cut',
    text: 'it closed the connection while the request was being sent',
    transport: true,
  },
  'too-short': { code: 'upstream_cut', text: 'its answer was shorter than announced', transport: false },
  'headers-too-large': {
    code: 'upstream_protocol',
    text: 'its response headers are too large',
    transport: false,
  },
  'address-refused': {
    code: 'upstream_unreachable',
    text: 'no request is sent there, for its address is link-local, of a cloud that hands out credentials, or this gateway itself',
    transport: false,
  },
  'no-http': { code: 'upstream_protocol', text: 'it does not speak valid HTTP', transport: false },
  damaged: { code: 'upstream_protocol', text: 'its compressed answer is damaged', transport: false },
  unknown: { code: 'upstream_unreachable', text: 'the exchange broke off', transport: false },
};

/**
 * Turns an error of the transport into one the client can be shown. Names the host, never a path, query or key.
 * @param answered true once the first byte of a response body was received
 */
export function failureOf(error: Error, host: string, answered: boolean): Failure {
  if (error instanceof GatewayError) return { error, safeToRetry: false };
  const { code, fault } = transportFault(error);
  const row = fault === 'tls' ? tlsRow(error) : rows[fault];
  return {
    error: new GatewayError(row.code, `The upstream ${host} failed: ${row.text} (${code})`, { cause: error }),
    safeToRetry: row.transport && !answered,
  };
}

function tlsRow({ message }: Error): Row {
  return {
    code: 'upstream_unreachable',
    text: `the TLS connection was refused, ${message}`,
    transport: true,
  };
}
