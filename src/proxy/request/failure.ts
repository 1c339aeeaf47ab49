import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../lib/error.ts';

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
  errorText: string;
  /** Its body, where that is a proper error of the client's dialect; null when it must be rendered anew. */
  body: Buffer | null;
}
