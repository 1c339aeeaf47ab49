/** Random numbers that come again for the same seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** One of the members, by its share of the sum of all `share`s. */
  pickByShare<T extends { readonly share: number }>(list: readonly T[]): T;
  /** Mostly near `median`, now and then far above: how durations and lengths of text are spread. */
  spread(median: number, sigma: number): number;
  /** So many letters and digits. */
  text(length: number): string;
}

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The generator mulberry32: 32 bits of state, good enough to look plausible. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(list: readonly T[]): T => {
    const picked = list[whole(0, list.length - 1)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  };
  return {
    next,
    whole,
    pick,
    chance: (probability) => next() < probability,
    pickByShare(list) {
      let left = next() * list.reduce((sum, { share }) => sum + share, 0);
      for (const member of list) {
        left -= member.share;
        if (left < 0) return member;
      }
      return pick(list);
    },
    spread(median, sigma) {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      return median * Math.exp(sigma * normal);
    },
    text: (length) => Array.from({ length }, () => LETTERS[whole(0, LETTERS.length - 1)]).join(''),
  };
}
