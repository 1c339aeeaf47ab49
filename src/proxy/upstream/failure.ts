import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, GatewayError } from '../../lib/error.ts';

/** Why an attempt gave no usable answer. */
export interface Failure {
  error: GatewayError;
  /** A new socket may cure it and nothing of an answer was received: one more try is safe. */
  safeToRetry: boolean;
  /** What the upstream answered instead of what was asked for. */
  answer?: UpstreamRefusal;
}

/** An HTTP error of an upstream. */
export interface UpstreamRefusal {
  status: number;
  headers: IncomingHttpHeaders;
  /** The error's type, code and message together. */
  said: string;
  /** Its body, where that is a proper error of the caller's dialect; null when it must be rendered anew. */
  body: Buffer | null;
}

interface Row {
  code: ErrorCode;
  says: string;
  /** A fault of the connection, not of the answer. */
  transport: boolean;
}

const rows: Readonly<Record<string, Row>> = {
  ENOTFOUND: { code: 'upstream_unreachable', says: 'its name cannot be resolved', transport: true },
  EAI_AGAIN: { code: 'upstream_unreachable', says: 'its name cannot be resolved right now', transport: true },
  ECONNREFUSED: { code: 'upstream_unreachable', says: 'it refused the connection', transport: true },
  EHOSTUNREACH: { code: 'upstream_unreachable', says: 'no route leads to it', transport: true },
  ENETUNREACH: { code: 'upstream_unreachable', says: 'its network cannot be reached', transport: true },
  ETIMEDOUT: { code: 'upstream_timeout', says: 'the connection timed out', transport: true },
  UND_ERR_CONNECT_TIMEOUT: {
    code: 'upstream_timeout',
    says: 'it did not accept a connection in time',
    transport: true,
  },
  ECONNRESET: {
    code: 'upstream_cut',
    says: 'it closed the connection before its answer was complete',
    transport: true,
  },
  ADDRESS_REFUSED: {
    code: 'upstream_unreachable',
    says: 'no request is sent there, for its address is link-local, of a cloud that hands out credentials, or this gateway itself',
    transport: false,
  },
  EPIPE: {
    code: 'upstream_cut',
    says: 'it closed the connection while the request was being sent',
    transport: true,
  },
  UND_ERR_SOCKET: {
    code: 'upstream_cut',
    says: 'it closed the connection before its answer was complete',
    transport: true,
  },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    code: 'upstream_cut',
    says: 'its answer was shorter than announced',
    transport: false,
  },
  UND_ERR_HEADERS_OVERFLOW: {
    code: 'upstream_protocol',
    says: 'its response headers are too large',
    transport: false,
  },
};

/**
 * Turns an error of the transport into one the caller can be shown. Names the host, never a path, query or key.
 * @param answered true once the first byte of a response body was received
 */
export function failureOf(error: Error, host: string, answered: boolean): Failure {
  if (error instanceof GatewayError) return { error, safeToRetry: false };
  const code = transportCode(error);
  const row = rows[code] ?? protocolRow(code, error);
  return {
    error: new GatewayError(row.code, `The upstream ${host} failed: ${row.says} (${code || error.name})`, {
      cause: error,
    }),
    safeToRetry: row.transport && !answered,
  };
}

function transportCode(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return transportCode(error.errors[0]);
  const code: unknown = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' ? code : '';
}

function protocolRow(code: string, error: Error): Row {
  if (code.startsWith('HPE_')) {
    return { code: 'upstream_protocol', says: 'it does not speak valid HTTP', transport: false };
  }
  if (/CERT|TLS|SSL|SIGNATURE|SELF_SIGNED/.test(code)) {
    return {
      code: 'upstream_unreachable',
      says: `the TLS connection was refused, ${error.message}`,
      transport: true,
    };
  }
  if (/^(Z_|ERR_BROTLI|ERR_ZSTD|ZSTD_|ERR__ERROR_FORMAT|ERR_PADDING)/.test(code)) {
    return { code: 'upstream_protocol', says: 'its compressed answer is damaged', transport: false };
  }
  return { code: 'upstream_unreachable', says: 'the exchange broke off', transport: false };
}
