/** Time for waits: a clock that nobody sets, and what is due by it. Milliseconds. */
export interface Clock {
  /** Counted from any moment; it never goes back and never jumps. */
  now(): number;
  /** @returns what calls it off */
  after(ms: number, run: () => void): () => void;
}

const LONGEST_TIMER_MS = 2_147_483_647;

/** The monotonic clock of this process. Waits beyond 24 days end after 24 days. */
export const monotonicClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
