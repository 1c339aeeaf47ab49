/** By so many milliseconds clocks are corrected, or differ between processes, without anything being wrong. */
export const CLOCK_TOLERANCE_MS = 60_000;

/**
 * The time when the process started, and how long it has run since: milliseconds since the epoch, for what has to be due at the
 * right moment after a restart too. When somebody sets the system's clock, nothing is due earlier or later for it.
 */
export function uptimeClock(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * A clock for waits and pauses: milliseconds since the epoch that never go back. When the system's clock is set back it
 * goes on from where it was, by the monotonic clock; when that is set forward, or the machine slept, it follows.
 * Not for times that are shown or kept: after a step back it is ahead of the system's clock.
 */
export function createSteadyClock(
  now: () => number = Date.now,
  monotonic: () => number = performance.now.bind(performance),
): () => number {
  let ahead = Number.NEGATIVE_INFINITY;
  return () => {
    const elapsed = monotonic();
    // How far the time lies beyond the monotonic clock; it only ever grows.
    ahead = Math.max(ahead, now() - elapsed);
    return ahead + elapsed;
  };
}
