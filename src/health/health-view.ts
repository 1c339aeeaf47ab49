/**
 * What is known of an account, or of one model at it. One state machine: ready → cooling → probing → ready;
 * `exhausted` ends at a known reset; `needs-attention` ends when the owner changes the connection.
 */
export type Condition =
  | { state: 'ready' }
  | { state: 'cooling'; until: number; reason: string }
  /** The pause is over, and one request is on its way to find out. */
  | { state: 'probing'; reason: string }
  | { state: 'exhausted'; until: number; reason: string }
  | { state: 'needs-attention'; reason: string };

/**
 * What routing may ask of the accounts. Nothing here waits or touches a disk. Times in milliseconds since the epoch.
 * A target that is not ready is put behind those that are, never left out: the attempts (`proxy/dispatch/run.ts`) look again when
 * its turn comes, and may have to try it when nothing else is left. They write into `Trace.skipped` what they pass over.
 */
export interface HealthView {
  /** The worse of the account's own condition and the model's at it. */
  conditionOf(connectionId: string, model: string): Condition;
  /** Requests on their way at this moment. */
  inFlight(connectionId: string): number;
  /** Requests begun in the last minute, those on their way included. */
  recentUse(connectionId: string): number;
  /** Peak EWMA of the time to the first content, in milliseconds; null while nothing is known. */
  latencyMs(connectionId: string, model: string): number | null;
  /** How long ago that was last measured, in milliseconds; null while nothing is known. */
  latencyAgeMs(connectionId: string, model: string): number | null;
  /** The smallest known share of a quota that is left, 0 to 1; null while nothing is known. */
  headroom(connectionId: string): number | null;
}
