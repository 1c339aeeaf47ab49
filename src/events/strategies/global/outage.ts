import type { Log } from '../../../lib/log.ts';

/** Whether the store of limits answers, and how many gateways shared it when it last did. */
export interface Outage {
  answered(gateways: number): void;
  failed(error: unknown): void;
  /** What one gateway may use of a limit by itself: its part, and at least 1 of what is not nothing. */
  shareOf(limit: number): number;
}

/** Tells the log once of an outage, and once of its end. */
export function createOutage(log: Pick<Log, 'info' | 'warn'>): Outage {
  let outage = false;
  let known = 1;
  return {
    answered(gateways) {
      known = Math.max(1, gateways);
      if (outage) log.info({ gateways: known }, 'Redis answers: limits of MODE_GLOBAL are shared again');
      outage = false;
    },
    failed(error) {
      if (outage) return;
      outage = true;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(
        { error: reason, gateways: known },
        'Redis does not answer: this gateway enforces its share of the limits of MODE_GLOBAL by itself',
      );
    },
    shareOf: (limit) => (limit === 0 ? 0 : Math.max(1, Math.floor(limit / known))),
  };
}
