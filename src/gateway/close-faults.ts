import type { CloseFault } from '../lib/closers.ts';
import { GatewayError } from '../lib/error.ts';
import { describe, type Log } from '../lib/log.ts';

export interface CloseFaults {
  add(fault: CloseFault): void;
  /** @throws the first failure; without one, an error that names the parts that did not close in time */
  throwFirst(): void;
}

/** Logs each part that did not close. One that could not reach the database has not failed: what must not be lost waits on the disk. */
export function collectCloseFaults(log: Log): CloseFaults {
  const failures: unknown[] = [];
  const late: string[] = [];
  return {
    add(fault) {
      const { name: part } = fault;
      if (fault.kind === 'late') {
        late.push(part);
        log.error({ part, waited_ms: fault.waitedMs }, 'a part of the gateway did not close in time');
        return;
      }
      const { error } = fault;
      if (error instanceof GatewayError && error.code === 'database_unreachable') {
        log.warn({ part, reason: error.message }, 'a part of the gateway closed without the database');
        return;
      }
      failures.push(error);
      log.error({ part, error: describe(error) }, 'a part of the gateway could not be closed');
    },
    throwFirst() {
      if (failures.length > 0) throw failures[0];
      if (late.length > 0) throw new Error(`These parts did not close in time: ${late.join(', ')}`);
    },
  };
}
