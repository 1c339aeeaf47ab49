import type { Trace } from '../../combos/trace.ts';
import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { boundedNames } from '../metrics/bounded-names.ts';
import type { HistogramFamily, Labels } from '../metrics/family.ts';
import { createHistogram, type Histogram } from '../metrics/histogram.ts';
import { operationOf, providerNameOf } from './gen-ai.ts';

/** The histograms that the conventions for generative AI name: as a client of upstreams, and as a server of models. */
export interface GenAiMetrics {
  count(entry: LedgerEntry, trace: Trace | null): void;
  families(): HistogramFamily[];
}

/** Bounds that the conventions ask for, in seconds and tokens. */
const durationBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index);
const firstTokenBounds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

export function createGenAiMetrics(): GenAiMetrics {
  const bounded = boundedNames();
  const operation = series(
    'gen_ai.client.operation.duration',
    'GenAI operation duration.',
    durationBounds,
    'seconds',
  );
  const tokens = series(
    'gen_ai.client.token.usage',
    'Number of input and output tokens used.',
    tokenBounds,
    'tokens',
  );
  const request = series(
    'gen_ai.server.request.duration',
    'Generative AI server request duration.',
    durationBounds,
    'seconds',
  );
  const firstToken = series(
    'gen_ai.server.time_to_first_token',
    'Time to generate first token for successful responses.',
    firstTokenBounds,
    'seconds',
  );
  return {
    count(entry, trace) {
      const common = (provider: string, model: string): Labels => ({
        'gen_ai.operation.name': operationOf(entry.format),
        'gen_ai.provider.name': providerNameOf(provider),
        'gen_ai.request.model': bounded(provider, model),
      });
      for (const { durationMs, error, model, provider } of trace?.attempts ?? []) {
        const labels = common(provider, model);
        const failed = error === null ? labels : { ...labels, 'error.type': error.code };
        operation.observe(failed, durationMs / 1000);
      }
      if (entry.provider === null || entry.model === null) return;
      const labels = common(entry.provider, entry.model);
      if (entry.usage !== null && !entry.cached) {
        tokens.observe({ ...labels, 'gen_ai.token.type': 'input' }, inputTokens(entry.usage));
        tokens.observe({ ...labels, 'gen_ai.token.type': 'output' }, outputTokens(entry.usage));
      }
      const failed = entry.errorCode === null ? labels : { ...labels, 'error.type': entry.errorCode };
      request.observe(failed, entry.durationMs / 1000);
      if (entry.ttftMs !== null && entry.outcome === 'ok') firstToken.observe(labels, entry.ttftMs / 1000);
    },
    families: () => [operation.family(), tokens.family(), request.family(), firstToken.family()],
  };
}

function series(name: string, help: string, bounds: readonly number[], unit: 'seconds' | 'tokens') {
  const histograms = new Map<string, { labels: Labels; histogram: Histogram }>();
  return {
    observe(labels: Labels, value: number) {
      const key = Object.values(labels).join('\n');
      let one = histograms.get(key);
      if (one === undefined) {
        one = { labels, histogram: createHistogram(bounds) };
        histograms.set(key, one);
      }
      one.histogram.observe(value);
    },
    family: (): HistogramFamily => ({
      name,
      type: 'histogram',
      help,
      unit,
      bounds,
      points: [...histograms.values()].map(({ histogram, labels }) => histogram.point(labels)),
    }),
  };
}
