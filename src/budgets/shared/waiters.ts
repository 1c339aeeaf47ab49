import type { Claim, ClaimRefusal } from '../claim.ts';
import type { Counter } from '../counter.ts';

/** One request that waits for room. */
export interface Waiter {
  claims: readonly Claim[];
  /** The counters that were asked for it. */
  requested: Set<Counter>;
  /** Answers it, once. */
  end(answer: ClaimRefusal | null): void;
}

/** Requests that wait for room, in the order in which they came. */
export interface Waiters {
  add(waiter: Waiter): void;
  remove(waiter: Waiter): void;
  /** Answers those for which `decide` has an answer; null: they are held, undefined: they wait on. */
  answer(decide: (waiter: Waiter) => ClaimRefusal | null | undefined): void;
  /** The counters that were not asked yet for some request. */
  unrequested(): Counter[];
  /** What the requests may use of a counter, each, which is asked for them now. */
  askFor(counter: Counter): number[];
  /** Asks for all of them again. */
  askAgain(): void;
}

export function createWaiters(): Waiters {
  let waiters: Waiter[] = [];
  return {
    add: (waiter) => waiters.push(waiter),
    remove(waiter) {
      waiters = waiters.filter((one) => one !== waiter);
    },
    answer(decide) {
      const all = waiters;
      waiters = all.filter((waiter) => {
        const answer = decide(waiter);
        if (answer !== undefined) waiter.end(answer);
        return answer === undefined;
      });
    },
    unrequested() {
      const counters = new Set<Counter>();
      for (const { requested, claims } of waiters)
        for (const { counter } of claims)
          if (!requested.has(counter) && counter.lease?.loaded === true) counters.add(counter);
      return [...counters];
    },
    askFor: (counter) =>
      waiters.flatMap(({ requested, claims }) => {
        const claim = claims.find((one) => one.counter === counter);
        if (claim !== undefined) requested.add(counter);
        return claim === undefined ? [] : [claim.amount];
      }),
    askAgain() {
      for (const { requested } of waiters) requested.clear();
    },
  };
}
