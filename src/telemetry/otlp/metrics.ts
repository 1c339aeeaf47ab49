import type { HistogramPoint, MetricFamily } from '../metrics/family.ts';
import { attributesOf, nanoseconds } from './attributes.ts';

/** Units as UCUM writes them. */
const units = { seconds: 's', bytes: 'By', usd: 'USD', tokens: '{token}', ratio: '1' } as const;

/** Number of `AggregationTemporality` in OTLP's schema. */
const CUMULATIVE = 2;

/**
 * Metrics in OTLP's JSON. Prometheus's names become OpenTelemetry's: the first word is the namespace, and the unit stands
 * apart (`modelgate_cost_usd` → `modelgate.cost`), so that what converts them back finds the same names.
 * @param startedAt since when there are counters, and `now`: milliseconds since the epoch
 */
export function otlpMetrics(families: readonly MetricFamily[], startedAt: number, now: number): object[] {
  const time = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(now) };
  return families
    .filter(({ points }) => points.length > 0)
    .map((family) => ({
      name: otlpName(family),
      description: family.help,
      ...(family.unit === undefined ? {} : { unit: units[family.unit] }),
      ...dataOf(family, time),
    }));
}

function otlpName({ name, unit }: MetricFamily): string {
  if (name.includes('.')) return name;
  const bare = unit === undefined || !name.endsWith(`_${unit}`) ? name : name.slice(0, -unit.length - 1);
  // `modelgate_tokens` is all unit.
  return (bare.includes('_') ? bare : name).replace('_', '.');
}

type Time = Readonly<Record<string, string>>;

function dataOf(family: MetricFamily, time: Time): object {
  switch (family.type) {
    case 'histogram':
      return {
        histogram: {
          aggregationTemporality: CUMULATIVE,
          dataPoints: family.points.map((point) => histogramPoint(point, family.bounds, time)),
        },
      };
    case 'counter':
      return {
        sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints: numbers(family, time) },
      };
    case 'gauge':
      return { gauge: { dataPoints: numbers(family, time) } };
  }
}

function numbers({ points }: Extract<MetricFamily, { type: 'counter' | 'gauge' }>, time: Time): object[] {
  return points.map(({ labels, value }) => ({ attributes: attributesOf(labels), ...time, asDouble: value }));
}

function histogramPoint(
  { counts, labels, sum }: HistogramPoint,
  bounds: readonly number[],
  time: Time,
): object {
  const all = [...counts];
  return {
    attributes: attributesOf(labels),
    ...time,
    count: String(all.reduce((total, count) => total + count, 0)),
    sum,
    bucketCounts: all.map(String),
    explicitBounds: bounds,
  };
}
