import type { GatewayError } from '../../lib/error.ts';
import type { WatchedMember } from './watch.ts';

/** A request on its way. Times in milliseconds since the epoch. */
export interface RunningCall {
  id: string;
  startedAt: number;
  keyId: string;
  format: string;
  requestedModel: string;
  connection: string;
  model: string;
  attempts: number;
  state: 'waiting' | 'asked' | 'answering';
  userAgent: string | null;
}

/** One call in flight, as the ticking watch and the shutdown see it. */
export interface OpenCall extends WatchedMember {
  /** Whether it waits until an upstream may be asked again. Absent for a call that never does. */
  readonly waits?: boolean;
  /** What is shown of it while it runs. Absent for a call that the gateway makes beside a request. */
  describe?(): RunningCall;
  /** Ends the call with the dialect's error because the gateway stops. */
  interrupt(error: GatewayError): void;
}
