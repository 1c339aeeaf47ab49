import type { ScalarPoint } from './family.ts';
import { createSeriesMap } from './series-map.ts';

/** A counter with a series for each combination of its labels' values, which must be few. */
export interface Tally {
  /** @param values of the labels, in their order */
  add(amount: number, ...values: readonly string[]): void;
  counts(): readonly TallyCount[];
  points(): ScalarPoint[];
}

/** What was counted for one combination of the labels' values. */
export interface TallyCount {
  values: readonly string[];
  amount: number;
}

export function createTally(labels: readonly string[]): Tally {
  const counts = createSeriesMap<TallyCount>((values) => ({ values, amount: 0 }));
  return {
    add(amount, ...values) {
      counts.of(values).amount += amount;
    },
    counts: counts.all,
    points: () =>
      counts.all().map(({ amount, values }) => ({
        labels: Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])),
        value: amount,
      })),
  };
}
