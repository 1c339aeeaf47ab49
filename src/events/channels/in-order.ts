/**
 * Messages that may be settled in any order, at a queue that wants to be told in the order in which they came: one that is
 * not settled yet holds the later ones back.
 */
export interface InOrder<T> {
  add(message: T): void;
  /** @returns the messages that may be told of now, in order; none for one that is not waiting */
  settle(message: T): T[];
  /** Messages that are not settled. */
  readonly unsettled: number;
}

export function createInOrder<T>(): InOrder<T> {
  const waiting = new Map<T, { settled: boolean }>();
  let unsettled = 0;
  return {
    get unsettled() {
      return unsettled;
    },
    add(message) {
      waiting.set(message, { settled: false });
      unsettled += 1;
    },
    settle(message) {
      const state = waiting.get(message);
      if (state === undefined || state.settled) return [];
      state.settled = true;
      unsettled -= 1;
      const first: T[] = [];
      for (const [one, { settled }] of waiting) {
        if (!settled) break;
        first.push(one);
        waiting.delete(one);
      }
      return first;
    },
  };
}
