import { GatewayError } from '../../lib/error.ts';

/** What postgres.js and Node.js call a connection that is not there. */
const lost: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/**
 * SQLSTATE (PostgreSQL documentation, appendix A) of a server that is going, coming, a mere reader since another one took
 * over, or full of connections or data.
 */
const unavailable: ReadonlySet<string> = new Set([
  '57P01',
  '57P02',
  '57P03',
  '25006',
  '53300',
  '53100',
  '53200',
]);

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Whether the server cannot be used at all just now: what was asked may be asked again. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return lost.has(code) || unavailable.has(code) || code.startsWith('08');
}

/** Classes 22 and 23: the server is sound and the values are not. */
export function isRowFault(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error));
}

/** 55P03 is a lock that was not given in time. */
const LOCK_NOT_AVAILABLE = '55P03';

/** The error as the gateway reports it. It never holds the address with its password. */
export function reported(error: unknown, place: string): unknown {
  if (error instanceof GatewayError) return error;
  if (isOutage(error)) return unreachable(place, error);
  if (codeOf(error) !== LOCK_NOT_AVAILABLE) return error;
  return new GatewayError(
    'database_busy',
    `Another gateway has kept the database ${place} locked for 15 seconds, so nothing was changed: try again later`,
    { retryAfter: 5, cause: error },
  );
}

function unreachable(place: string, cause: unknown): GatewayError {
  return new GatewayError(
    'database_unreachable',
    `The database ${place} does not answer (${reasonOf(cause)}): check the server, the network and DATABASE_URL`,
    { retryAfter: 5, cause: reasonOf(cause) },
  );
}

/** In few words, without what a message of the driver may repeat of the address. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (lost.has(code)) return code;
  if (error instanceof GatewayError) return String(error.cause ?? error.message);
  return error instanceof Error ? `${error.message}${code === '' ? '' : `, ${code}`}` : String(error);
}
