/** The first pause after a failure; it doubles with each further one. Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** When an agent that failed may be started again. */
export interface BackOff {
  /** Milliseconds from now until it may be started; 0 for at once. */
  wait(): number;
  failed(): void;
  /** A turn went well: the next failure is the first one. */
  succeeded(): void;
  /** Lets it be started at once. */
  reset(): void;
}

/** @param now milliseconds since the epoch */
export function createBackOff(now: () => number): BackOff {
  let failures = 0;
  let until = 0;
  const reset = () => {
    failures = 0;
    until = 0;
  };
  return {
    wait: () => Math.max(0, until - now()),
    failed() {
      failures += 1;
      until = now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
    },
    succeeded: reset,
    reset,
  };
}
