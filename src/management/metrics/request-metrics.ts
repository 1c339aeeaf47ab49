import type { MetricFamily } from './exposition.ts';

/** As much of a finished request as is counted. */
export interface CountedRequest {
  readonly provider: string | null;
  readonly outcome: string;
  readonly durationMs: number;
  readonly usage: { readonly input: number; readonly output: number } | null;
  readonly costUsd: number | null;
}

interface Counts {
  provider: string;
  outcome: string;
  requests: number;
  seconds: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** Counts finished model requests since the start. */
export interface RequestMetrics {
  count(request: CountedRequest): void;
  families(): MetricFamily[];
}

export function createRequestMetrics(): RequestMetrics {
  const counts = new Map<string, Counts>();
  return {
    count({ costUsd, durationMs, outcome, provider, usage }) {
      const key = `${provider} ${outcome}`;
      let one = counts.get(key);
      if (one === undefined) {
        one = {
          provider: provider ?? 'none',
          outcome,
          requests: 0,
          seconds: 0,
          inputTokens: 0,
          outputTokens: 0,
          costUsd: 0,
        };
        counts.set(key, one);
      }
      one.requests += 1;
      one.seconds += durationMs / 1000;
      one.inputTokens += usage?.input ?? 0;
      one.outputTokens += usage?.output ?? 0;
      one.costUsd += costUsd ?? 0;
    },
    families() {
      const family = (name: string, help: string, value: (one: Counts) => number): MetricFamily => ({
        name,
        type: 'counter',
        help,
        values: [...counts.values()].map((one) => ({
          labels: { provider: one.provider, outcome: one.outcome },
          value: value(one),
        })),
      });
      return [
        family('requests_total', 'Finished model requests', ({ requests }) => requests),
        family('request_seconds_total', 'How long they took together', ({ seconds }) => seconds),
        family('input_tokens_total', 'Tokens that were sent', ({ inputTokens }) => inputTokens),
        family('output_tokens_total', 'Tokens that were answered', ({ outputTokens }) => outputTokens),
        family('cost_usd_total', 'What they cost, as far as prices are known', ({ costUsd }) => costUsd),
      ];
    },
  };
}
