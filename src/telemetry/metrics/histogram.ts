import type { HistogramPoint, Labels } from './family.ts';

/** How many values fell into each bucket, and their sum. */
export type HistogramCounts = Pick<HistogramPoint, 'counts' | 'sum'>;

/** Counts values into buckets. */
export interface Histogram {
  observe(value: number): void;
  /** Adds what another histogram with the same bounds has counted. */
  add(counts: HistogramCounts): void;
  counts(): HistogramCounts;
  point(labels: Labels): HistogramPoint;
}

/** @param bounds upper bounds of the buckets, rising; a value that equals a bound falls into its bucket */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe(value) {
      let index = 0;
      while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1;
      counts[index] = (counts[index] ?? 0) + 1;
      sum += value;
    },
    add(other) {
      for (let index = 0; index < counts.length; index += 1)
        counts[index] = (counts[index] ?? 0) + (other.counts[index] ?? 0);
      sum += other.sum;
    },
    counts: () => ({ counts, sum }),
    point: (labels) => ({ labels, counts, sum }),
  };
}
