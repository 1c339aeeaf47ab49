/** One metric with its series, before it is written in a format. */
export type MetricFamily = ScalarFamily | HistogramFamily;

export type Labels = Readonly<Record<string, string>>;

interface FamilyHead {
  /** As Prometheus names it, without the `_total` of a counter: `modelgate_requests`. It ends with the unit, if there is one. */
  readonly name: string;
  readonly help: string;
  readonly unit?: 'seconds' | 'bytes' | 'usd' | 'tokens' | 'ratio';
}

export interface ScalarFamily extends FamilyHead {
  readonly type: 'counter' | 'gauge';
  readonly points: readonly ScalarPoint[];
}

export interface ScalarPoint {
  readonly labels: Labels;
  readonly value: number;
}

export interface HistogramFamily extends FamilyHead {
  readonly type: 'histogram';
  /** Upper bounds of the buckets, rising, without infinity. */
  readonly bounds: readonly number[];
  readonly points: readonly HistogramPoint[];
}

export interface HistogramPoint {
  readonly labels: Labels;
  /** How many values fell into each bucket and no lower one; the last counts those above all bounds. */
  readonly counts: readonly number[] | Float64Array;
  readonly sum: number;
}

/** A gauge with one series and no labels. */
export function gauge(name: string, help: string, value: number, unit?: FamilyHead['unit']): ScalarFamily {
  return {
    name,
    type: 'gauge',
    help,
    points: [{ labels: {}, value }],
    ...(unit === undefined ? {} : { unit }),
  };
}

/** A counter with one series and no labels. */
export function counter(name: string, help: string, value: number, unit?: FamilyHead['unit']): ScalarFamily {
  return { ...gauge(name, help, value, unit), type: 'counter' };
}
