import type { Trace, TracedAttempt } from '../../combos/trace.ts';
import { buckets, otherColumns } from '../../ledger/buckets.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { errorKindOf } from '../../lib/error.ts';
import { boundedNames, OTHER_MODELS } from './bounded-names.ts';
import type { Labels, MetricFamily, ScalarPoint } from './family.ts';
import { createHistogram, type Histogram, type HistogramCounts } from './histogram.ts';
import { createSeriesMap } from './series-map.ts';
import { createTally, type Tally, type TallyCount } from './tally.ts';

/** Counts finished model requests since the start. */
export interface RequestMetrics {
  /** @param trace the way it went; null where it had no target */
  count(entry: LedgerEntry, trace: Trace | null): void;
  /** Adds what another process has counted. */
  add(counts: RequestCounts): void;
  counts(): RequestCounts;
  families(): MetricFamily[];
}

/** What was counted, as plain values. */
export interface RequestCounts {
  series: readonly SeriesCounts[];
  upstream: readonly { labels: Labels; duration: HistogramCounts }[];
  tallies: Readonly<Record<TallyName, readonly TallyCount[]>>;
}

interface SeriesCounts extends SeriesSums {
  labels: Labels;
  duration: HistogramCounts;
  firstByte: HistogramCounts | null;
}

type TallyName = (typeof tallyNames)[number];

interface SeriesSums {
  readonly tokens: Float64Array;
  readonly units: Float64Array;
  requests: number;
  unpriced: number;
  costUsd: number;
}

/** Seconds. From what a cache answers in to a long answer of a reasoning model. */
const durationBounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;

/** Stands for the model of a request that had none. */
const NO_MODEL = 'none';
const tallyNames = ['errors', 'attempts', 'fallbacks', 'skipped', 'continued', 'cached'] as const;

const others: readonly string[] = otherColumns;
const tokenBuckets = buckets.filter(({ column }) => !others.includes(column));
const unitBuckets = buckets.filter(({ column }) => others.includes(column));

/** The requests of one provider, model, wire format and outcome. */
interface Series extends SeriesSums {
  readonly labels: Labels;
  readonly duration: Histogram;
  /** Made with the first request that had a first byte. */
  firstByte: Histogram | null;
}

interface UpstreamSeries {
  readonly labels: Labels;
  readonly duration: Histogram;
}

export function createRequestMetrics(): RequestMetrics {
  const series = createSeriesMap((values) => newSeries(labelsOf(values)));
  const upstream = createSeriesMap<UpstreamSeries>((values) => ({
    labels: labelsOf(values),
    duration: createHistogram(durationBounds),
  }));
  const tallies: Readonly<Record<TallyName, Tally>> = {
    errors: createTally(['provider', 'kind', 'code']),
    attempts: createTally(['provider', 'outcome', 'code']),
    fallbacks: createTally(['from_provider', 'to_provider', 'code']),
    skipped: createTally(['reason']),
    continued: createTally(['provider']),
    cached: createTally(['provider']),
  };
  const boundedModel = boundedNames();

  return {
    count(entry, trace) {
      const { format, outcome } = entry;
      const provider = entry.provider ?? 'none';
      const model = entry.model === null ? NO_MODEL : boundedModel(provider, entry.model);
      addTo(series.of([provider, model, format, outcome]), entry);
      if (entry.cached) tallies.cached.add(1, provider);
      if (entry.continued > 0) tallies.continued.add(entry.continued, provider);
      if (outcome === 'failed' && entry.errorCode !== null)
        tallies.errors.add(1, provider, errorKindOf(entry.errorCode, entry.status), entry.errorCode);
      if (trace === null) return;
      for (const { reason } of trace.skipped) tallies.skipped.add(1, reason);
      let before: TracedAttempt | null = null;
      for (const attempt of trace.attempts) {
        countAttempt(attempt, before);
        observeUpstream(attempt, format);
        before = attempt;
      }
    },
    add({ series: added, tallies: counts, upstream: addedUpstream }) {
      for (const one of added) {
        const { duration, firstByte, labels } = one;
        const sums = series.of(boundedValues(labels));
        addSums(sums, one);
        sums.duration.add(duration);
        if (firstByte === null) continue;
        sums.firstByte ??= createHistogram(durationBounds);
        sums.firstByte.add(firstByte);
      }
      for (const { duration, labels } of addedUpstream)
        upstream.of(boundedValues(labels)).duration.add(duration);
      for (const [name, tally] of tallyEntries())
        for (const { amount, values } of counts[name]) tally.add(amount, ...values);
    },
    counts: () => ({
      series: series.all().map((one) => ({
        ...one,
        duration: one.duration.counts(),
        firstByte: one.firstByte?.counts() ?? null,
      })),
      upstream: upstream.all().map(({ duration, labels }) => ({ labels, duration: duration.counts() })),
      tallies: Object.fromEntries(
        tallyEntries().map(([name, tally]) => [name, tally.counts()]),
      ) as RequestCounts['tallies'],
    }),
    families: () => [
      ...requestFamilies(series.all()),
      tallied(
        tallies.errors,
        'errors',
        'Model requests that failed, by the kind and code of the error that the client got',
      ),
      tallied(tallies.cached, 'cached_answers', 'Answers that were given from the cache'),
      {
        name: 'modelgate_upstream_duration_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Duration of one attempt at an upstream, from sending the request to the end of the answer',
        bounds: durationBounds,
        points: upstream.all().map(({ duration, labels }) => duration.point(labels)),
      },
      tallied(tallies.attempts, 'upstream_attempts', 'Attempts at upstreams, by outcome and error code'),
      tallied(
        tallies.fallbacks,
        'fallbacks',
        'Requests that went on to another target, by the error that the one before had',
      ),
      tallied(tallies.skipped, 'targets_skipped', 'Targets of combos that were passed over, by reason'),
      tallied(
        tallies.continued,
        'streams_continued',
        'Streams that another target went on with after they had broken off',
      ),
    ],
  };

  function tallyEntries(): (readonly [TallyName, Tally])[] {
    return tallyNames.map((name) => [name, tallies[name]] as const);
  }

  /** The values of another process's labels: each process bounds the names of its own models only. */
  function boundedValues({
    format = '',
    model = '',
    outcome = '',
    provider = '',
  }: Labels): readonly string[] {
    const isModel = model !== NO_MODEL && model !== OTHER_MODELS;
    return [provider, isModel ? boundedModel(provider, model) : model, format, outcome];
  }

  function countAttempt(attempt: TracedAttempt, before: TracedAttempt | null): void {
    const { outcome, provider } = attempt;
    tallies.attempts.add(1, provider, outcome, attempt.error?.code ?? 'none');
    if (before === null) return;
    const isSame = before.connectionId === attempt.connectionId && before.model === attempt.model;
    if (!isSame) tallies.fallbacks.add(1, before.provider, provider, before.error?.code ?? 'none');
  }

  function observeUpstream({ durationMs, model, outcome, provider }: TracedAttempt, format: string): void {
    const one = upstream.of([provider, boundedModel(provider, model), format, outcome]);
    one.duration.observe(durationMs / 1000);
  }
}

/** @param values of `provider`, `model`, `format` and `outcome` */
function labelsOf([provider = '', model = '', format = '', outcome = '']: readonly string[]): Labels {
  return { provider, model, format, outcome };
}

function newSeries(labels: Labels): Series {
  return {
    labels,
    tokens: new Float64Array(tokenBuckets.length),
    units: new Float64Array(unitBuckets.length),
    duration: createHistogram(durationBounds),
    firstByte: null,
    requests: 0,
    unpriced: 0,
    costUsd: 0,
  };
}

function addTo(one: Series, { costUsd, durationMs, ttftMs, usage }: LedgerEntry): void {
  one.requests += 1;
  one.duration.observe(durationMs / 1000);
  if (ttftMs !== null) {
    one.firstByte ??= createHistogram(durationBounds);
    one.firstByte.observe(ttftMs / 1000);
  }
  if (usage === null) return;
  if (costUsd === null) one.unpriced += 1;
  else one.costUsd += costUsd;
  for (let index = 0; index < tokenBuckets.length; index += 1) {
    const bucket = tokenBuckets[index];
    if (bucket !== undefined) one.tokens[index] = (one.tokens[index] ?? 0) + usage[bucket.member];
  }
  for (let index = 0; index < unitBuckets.length; index += 1) {
    const bucket = unitBuckets[index];
    if (bucket !== undefined) one.units[index] = (one.units[index] ?? 0) + usage[bucket.member];
  }
}

function addSums(sums: SeriesSums, { costUsd, requests, tokens, units, unpriced }: SeriesSums): void {
  sums.requests += requests;
  sums.unpriced += unpriced;
  sums.costUsd += costUsd;
  for (const [index, amount] of tokens.entries()) sums.tokens[index] = (sums.tokens[index] ?? 0) + amount;
  for (const [index, amount] of units.entries()) sums.units[index] = (sums.units[index] ?? 0) + amount;
}

function requestFamilies(all: readonly Series[]): MetricFamily[] {
  const each = (value: (one: Series) => number): ScalarPoint[] =>
    all.map((one) => ({ labels: one.labels, value: value(one) }));
  return [
    {
      name: 'modelgate_requests',
      type: 'counter',
      help: 'Finished model requests',
      points: each(({ requests }) => requests),
    },
    {
      name: 'modelgate_request_duration_seconds',
      type: 'histogram',
      unit: 'seconds',
      help: 'Duration of model requests, from their arrival to the end of the answer',
      bounds: durationBounds,
      points: all.map(({ duration, labels }) => duration.point(labels)),
    },
    {
      name: 'modelgate_time_to_first_byte_seconds',
      type: 'histogram',
      unit: 'seconds',
      help: 'Time from the arrival of a model request to the first content of its answer',
      bounds: durationBounds,
      points: all.flatMap(({ firstByte, labels }) => (firstByte === null ? [] : [firstByte.point(labels)])),
    },
    {
      name: 'modelgate_tokens',
      type: 'counter',
      unit: 'tokens',
      help: 'Tokens that were used, by bucket; no token is in two buckets',
      points: all.flatMap(({ labels, tokens }) => usedIn(tokens, tokenBuckets, labels, 'bucket')),
    },
    {
      name: 'modelgate_usage_units',
      type: 'counter',
      help: 'What was used beside tokens: pictures, seconds of sound, characters, searches',
      points: all.flatMap(({ labels, units }) => usedIn(units, unitBuckets, labels, 'unit')),
    },
    {
      name: 'modelgate_cost_usd',
      type: 'counter',
      unit: 'usd',
      help: 'Cost of model requests in USD, as far as prices are known',
      points: each(({ costUsd }) => costUsd),
    },
    {
      name: 'modelgate_unpriced_requests',
      type: 'counter',
      help: 'Model requests that used something whose price is not known',
      points: all.flatMap(({ labels, unpriced }) => (unpriced === 0 ? [] : [{ labels, value: unpriced }])),
    },
  ];
}

function usedIn(
  amounts: Float64Array,
  names: readonly { name: string }[],
  labels: Labels,
  label: string,
): ScalarPoint[] {
  return names.flatMap(({ name }, index) => {
    const value = amounts[index] ?? 0;
    return value === 0 ? [] : [{ labels: { ...labels, [label]: name }, value }];
  });
}

function tallied(tally: Tally, name: string, help: string): MetricFamily {
  return { name: `modelgate_${name}`, type: 'counter', help, points: tally.points() };
}
