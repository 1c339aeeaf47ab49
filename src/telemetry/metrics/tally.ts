import type { ScalarPoint } from './family.ts';

/** A counter with a series for each combination of its labels' values, which must be few. */
export interface Tally {
  /** @param values of the labels, in their order */
  add(amount: number, ...values: readonly string[]): void;
  points(): ScalarPoint[];
}

export function createTally(labels: readonly string[]): Tally {
  const counts = new Map<string, { values: readonly string[]; amount: number }>();
  return {
    add(amount, ...values) {
      const key = values.join('\n');
      const count = counts.get(key);
      if (count === undefined) counts.set(key, { values, amount });
      else count.amount += amount;
    },
    points: () =>
      [...counts.values()].map(({ amount, values }) => ({
        labels: Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])),
        value: amount,
      })),
  };
}
