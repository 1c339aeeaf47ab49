/** What a protocol server has counted since the process began. Times in milliseconds since the epoch. */
export interface CallCounts {
  calls: number;
  /** Calls that a fault of the gateway's own ended. */
  faults: number;
  lastCallAt: number | null;
  lastFaultAt: number | null;
}

export interface CallCounter {
  counts(): CallCounts;
  /** Counts a call. @param fault what was the gateway's own fault; null for none */
  add(fault: unknown): void;
}

/** @param report called with each fault */
export function createCallCounter(now: () => number, report: (fault: unknown) => void): CallCounter {
  const counts: CallCounts = { calls: 0, faults: 0, lastCallAt: null, lastFaultAt: null };
  return {
    counts: () => counts,
    add(fault) {
      counts.calls += 1;
      counts.lastCallAt = now();
      if (fault === null) return;
      counts.faults += 1;
      counts.lastFaultAt = now();
      report(fault);
    },
  };
}
