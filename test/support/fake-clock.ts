import type { Clock } from '../../src/events/strategies/clock.ts';

export interface FakeClock extends Clock {
  /** Lets time pass. What is due runs at its time, in its order. */
  pass(ms: number): void;
}

/** A clock that goes on only when a test says so. */
export function createFakeClock(): FakeClock {
  let now = 0;
  const due = new Set<{ at: number; run: () => void }>();
  return {
    now: () => now,
    after(ms, run) {
      const one = { at: now + ms, run };
      due.add(one);
      return () => due.delete(one);
    },
    pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        due.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
    },
  };
}
