/** How an exchange with another server failed below HTTP, or because it spoke no valid HTTP. */
export type TransportFault =
  | 'name-unknown'
  | 'name-unresolved'
  | 'refused'
  | 'no-route'
  | 'no-network'
  | 'connect-timeout'
  | 'timeout'
  | 'no-answer'
  | 'closed'
  | 'closed-while-sending'
  | 'too-short'
  | 'headers-too-large'
  | 'address-refused'
  | 'tls'
  | 'no-http'
  | 'damaged'
  | 'unknown';

/** Codes of Node.js (`man 3 errno`, `getaddrinfo`), of undici (its `Errors.md`) and of `connector.ts`. */
const faultOfCode: Readonly<Record<string, TransportFault>> = {
  ENOTFOUND: 'name-unknown',
  EAI_AGAIN: 'name-unresolved',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no-route',
  ENETUNREACH: 'no-network',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  ETIMEDOUT: 'timeout',
  TimeoutError: 'no-answer',
  ECONNRESET: 'closed',
  UND_ERR_SOCKET: 'closed',
  EPIPE: 'closed-while-sending',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'too-short',
  UND_ERR_HEADERS_OVERFLOW: 'headers-too-large',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ADDRESS_REFUSED: 'address-refused',
};

/** Beginnings and parts of codes: llhttp's, OpenSSL's, and those of the decoders of compressed bodies. */
const faultOfPattern: readonly (readonly [RegExp, TransportFault])[] = [
  [/^HPE_/, 'no-http'],
  [/CERT|TLS|SSL|SIGNATURE|SELF_SIGNED/, 'tls'],
  [/^(Z_|ERR_BROTLI|ERR_ZSTD|ZSTD_|ERR__ERROR_FORMAT|ERR_PADDING)/, 'damaged'],
];

/** The fault behind an error of undici or of Node.js, with its code; without one, the name of the error. */
export function transportFault(error: Error): { fault: TransportFault; code: string } {
  const code = codeOf(error);
  const exactFault = Object.hasOwn(faultOfCode, code) ? faultOfCode[code] : undefined;
  const fault = exactFault ?? faultOfPattern.find(([pattern]) => pattern.test(code))?.[1] ?? 'unknown';
  return { fault, code };
}

/** Of several tries to connect, the first is the one that is named. */
function codeOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0]);
  const code: unknown = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code !== '' ? code : error.name;
}
