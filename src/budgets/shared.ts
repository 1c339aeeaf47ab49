import type { Claim, Shared } from './claim.ts';
import type { Counter } from './counter.ts';
import { createSteps, type StepsInput } from './shared-steps.ts';

export interface SharedInput extends StepsInput {
  /** Whether there is anybody to ask. */
  ready(): boolean;
  /** How long a request waits for an answer before it is decided here. */
  timeoutMs: number;
  /** Told when answers come too late, once for each pause. */
  onSlow(): void;
}

export interface SharedLimits extends Shared {
  /** Begins anew with a new connection: nobody knows what became of what was held over the old one. */
  renew(): void;
  /** Says that this gateway is alive, and what could not be said before. */
  tick(): void;
}

/** For how long nobody is asked after an answer that came too late. */
const PAUSE_MS = 1_000;

/**
 * Limits that are counted in Redis, for several gateways together. Each decides by itself while Redis is slow or gone, by
 * what it counts itself and what it last heard of the others, and tells Redis afterwards what was used.
 */
export function createShared({ onSlow, ready, timeoutMs, ...input }: SharedInput): SharedLimits {
  const { now } = input;
  const steps = createSteps(input);
  let pausedUntil = 0;
  /** What was used and could not be told. */
  const untold = new Map<Counter, Map<number, number>>();
  /** What is held there and could not be given back. */
  let stuck: Claim[] = [];

  const usable = () => ready() && now() >= pausedUntil;
  const remember = ({ amount, bucket, counter }: Claim) => {
    if (amount === 0) return;
    const of = untold.get(counter) ?? new Map<number, number>();
    untold.set(counter, of.set(bucket, (of.get(bucket) ?? 0) + amount));
  };
  const settle: Shared['settle'] = (released, spent) => {
    const later = () => {
      spent.forEach(remember);
      stuck.push(...released);
    };
    if (usable()) steps.take({ released, spent }).catch(later);
    else later();
  };
  return {
    settle,
    claim(released, asked) {
      if (!usable()) return null;
      const answer = steps.take({ asked, released });
      return inTime(answer, timeoutMs, () => {
        pausedUntil = now() + PAUSE_MS;
        onSlow();
        // They are held here alone now; what an answer that comes too late says to be held is given back.
        const late = steps.disown(asked);
        const giveBack = (refused: Claim | null) =>
          refused === null ? steps.take({ released: late }) : null;
        answer.then(giveBack).catch(() => {});
      });
    },
    clear(counter) {
      untold.delete(counter);
      if (usable()) steps.clear(counter).catch(() => {});
    },
    renew() {
      steps.renew();
      stuck = [];
    },
    tick() {
      if (!usable()) return;
      const [left, held] = [[...untold], stuck];
      untold.clear();
      stuck = [];
      for (const claim of held) settle([claim], []);
      for (const [counter, of] of left)
        for (const [bucket, amount] of of) settle([], [{ counter, bucket, amount, unpriced: 0 }]);
      if (left.length === 0) steps.clear(null).catch(() => {});
    },
  };
}

/** What a promise comes to, or `gone` when it fails or takes longer. */
function inTime<T>(promise: Promise<T>, ms: number, onLate: () => void): Promise<T | 'gone'> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      onLate();
      resolve('gone');
    }, ms);
    const end = (value: T | 'gone') => {
      clearTimeout(timer);
      resolve(value);
    };
    promise.then(end, () => end('gone'));
  });
}
