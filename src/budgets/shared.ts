import type { Claim, Shared } from './claim.ts';
import type { Counter } from './counter.ts';
import { createSteps, type StepsInput } from './shared-steps.ts';

export interface SharedInput extends Omit<StepsInput, 'untold'> {
  /** Whether there is anybody to ask. */
  ready(): boolean;
  /** How long a request waits for an answer before it is decided here. */
  timeoutMs: number;
  /** Told when answers come too late, and when they come in time again. */
  onPace(slow: boolean): void;
}

export interface SharedLimits extends Shared {
  /** Whether the last answer came in time. */
  inTime(): boolean;
  /** Begins anew with a new connection: nobody knows what became of what was held over the old one. */
  renew(): void;
  /** Says that this gateway is alive, and what could not be said before. */
  tick(): void;
}

const nothing: ReadonlyMap<number, number> = new Map();

/** For how long nobody is asked after an answer that came too late. */
const PAUSE_MS = 1_000;

/**
 * Limits that are counted in Redis, for several gateways together. Each decides by itself while Redis is slow or gone, by
 * what it counts itself and what it last heard of the others, and tells Redis afterwards what was used.
 */
export function createShared({ onPace, ready, timeoutMs, ...input }: SharedInput): SharedLimits {
  const { now } = input;
  /** What was used and could not be told. */
  const untold = new Map<Counter, Map<number, number>>();
  const steps = createSteps({ ...input, untold: (counter) => untold.get(counter) ?? nothing });
  let pausedUntil = 0;
  let slow = false;
  /** What is held there and could not be given back. */
  let stuck: Claim[] = [];

  const usable = () => ready() && now() >= pausedUntil;
  const late = () => {
    pausedUntil = now() + PAUSE_MS;
    if (!slow) onPace(true);
    slow = true;
  };
  const heard = () => {
    if (slow) onPace(false);
    slow = false;
  };
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
      // What was not heard of may still be held there, and what was to be given back too.
      const unheard = () => stuck.push(...released);
      return inTime(answer, timeoutMs, {
        onTime: heard,
        onLate() {
          late();
          // They are held here alone now; what an answer that comes too late says to be held is given back.
          const held = steps.disown(asked);
          answer.then((refused) => (refused === null ? settle(held, []) : null), unheard);
        },
        onFailure() {
          steps.disown(asked);
          unheard();
        },
      });
    },
    clear(counter) {
      untold.delete(counter);
      if (usable()) steps.clear(counter).catch(() => {});
    },
    inTime: () => !slow,
    renew() {
      steps.renew();
      stuck = [];
    },
    tick() {
      if (!usable()) return;
      const held = stuck;
      stuck = [];
      for (const claim of held) settle([claim], []);
      for (const [counter, of] of untold) {
        for (const [bucket, amount] of [...of]) {
          // One after the other: what is still to be told is no part of what a new counter begins with.
          of.delete(bucket);
          settle([], [{ counter, bucket, amount, unpriced: 0 }]);
        }
        if (of.size === 0) untold.delete(counter);
      }
      // What says that this gateway is alive also tells, without any request, that Redis is.
      const probe = { onTime: heard, onLate: late, onFailure: () => {} };
      void inTime(steps.clear(null), Math.max(timeoutMs, PAUSE_MS), probe);
    },
  };
}

interface Heard {
  onTime(): void;
  onLate(): void;
  /** It failed in time. */
  onFailure(): void;
}

/** What a promise comes to, or `gone` when it fails or takes longer. */
function inTime<T>(promise: Promise<T>, ms: number, heard: Heard): Promise<T | 'gone'> {
  return new Promise((resolve) => {
    let over = false;
    const end = (value: T | 'gone', tell: () => void) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      tell();
      resolve(value);
    };
    const timer = setTimeout(() => end('gone', heard.onLate), ms);
    promise.then(
      (value) => end(value, heard.onTime),
      () => end('gone', heard.onFailure),
    );
  });
}
