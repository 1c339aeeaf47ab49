import type { BrokerMessage } from './broker.ts';

/** How many are remembered that have no numbers. */
const MOST_NAMED = 10_000;
/** How many are remembered that have numbers: two megabytes. */
const MOST_NUMBERED = 131_072;

/** Messages that one consumer is done with, for when they are delivered again. */
export interface SettledMessages {
  add(message: Pick<BrokerMessage, 'position' | 'numbered'>): void;
  has(message: Pick<BrokerMessage, 'position' | 'numbered'>): boolean;
}

/** Those that were settled last, for as long as the process lives. */
export function createSettledMessages(): SettledMessages {
  const names = new Set<string>();
  /** Each number has its place, which it takes from the one that is so much smaller. */
  let numbers: { readonly number: Float64Array; readonly time: BigInt64Array } | null = null;
  return {
    add({ numbered, position }) {
      if (numbered !== undefined) {
        numbers ??= { number: new Float64Array(MOST_NUMBERED), time: new BigInt64Array(MOST_NUMBERED) };
        numbers.number[numbered.number % MOST_NUMBERED] = numbered.number;
        numbers.time[numbered.number % MOST_NUMBERED] = numbered.time;
      } else if (position !== null) {
        names.add(position);
        const [oldest] = names;
        if (names.size > MOST_NAMED && oldest !== undefined) names.delete(oldest);
      }
    },
    has({ numbered, position }) {
      if (numbered === undefined) return position !== null && names.has(position);
      const place = numbered.number % MOST_NUMBERED;
      return numbers?.number[place] === numbered.number && numbers.time[place] === numbered.time;
    },
  };
}
