import type { Usage } from '../../codecs/wire-format.ts';
import type { GatewayError } from '../../lib/error.ts';

/** How a request ended, as the ledger keeps it. */
export interface RequestEnd {
  /** What the client saw; 499 when it left. */
  readonly status: number;
  readonly outcome: 'ok' | 'failed' | 'aborted';
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly streamed: boolean;
  /** Of the target that answered last. */
  readonly usage: Usage | null;
  readonly estimated: boolean;
}

export function endOfError(error: GatewayError, streamed: boolean): RequestEnd {
  return {
    status: error.status,
    outcome: 'failed',
    error: { code: error.code, message: error.message },
    streamed,
    usage: null,
    estimated: false,
  };
}

export function clientGone(streamed: boolean): RequestEnd {
  return {
    status: 499,
    outcome: 'aborted',
    error: { code: 'client_closed', message: 'The client left before the answer was complete' },
    streamed,
    usage: null,
    estimated: false,
  };
}
