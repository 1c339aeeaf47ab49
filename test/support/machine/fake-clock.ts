import type { Clock } from '../../../src/events/strategies/clock.ts';

export interface FakeClock extends Clock {
  /** Lets time pass. What is due runs at its time, in its order. */
  pass(ms: number): void;
  /** The same, and what waits for promises goes on before anything else is due. */
  advance(ms: number): Promise<void>;
}

/** A clock that goes on only when a test says so. */
export function createFakeClock(): FakeClock {
  let now = 0;
  const due = new Set<{ at: number; run: () => void }>();
  const nextBefore = (end: number) => [...due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  const runNext = (end: number): boolean => {
    const next = nextBefore(end);
    if (next === undefined) return false;
    due.delete(next);
    now = Math.max(now, next.at);
    next.run();
    return true;
  };
  return {
    now: () => now,
    after(ms, run) {
      const one = { at: now + ms, run };
      due.add(one);
      return () => due.delete(one);
    },
    pass(ms) {
      const end = now + ms;
      while (runNext(end));
      now = end;
    },
    async advance(ms) {
      const end = now + ms;
      do await settled();
      while (runNext(end));
      now = end;
    },
  };
}

/** Resolves when what waits for nothing but promises is done. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
