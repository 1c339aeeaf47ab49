import type { Usage } from '../codecs/model.ts';
import type { ModelPrice, Rate } from './price.ts';

/**
 * What a request cost in USD: the plain sum of its disjoint buckets, each at its rate.
 *
 * A missing rate falls back to the nearest one that is never lower in practice: cache reads, writes and audio input to
 * input; one-hour writes to five-minute writes; reasoning and audio output to output. The tier is chosen once, by all
 * input tokens together, and holds for every bucket, as the providers bill it.
 * Null when tokens or searches were used for which no rate is known, or when a count is not a number from zero up:
 * an unknown cost is never 0.
 */
export function costOf(price: ModelPrice, usage: Usage): number | null {
  const { input, output } = price;
  const writes = price.cacheWrite5m ?? input;
  const total = usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h + usage.audioInput;
  const buckets: readonly (readonly [tokens: number, rate: Rate | null])[] = [
    [usage.input, input],
    [usage.cacheRead, price.cacheRead ?? input],
    [usage.cacheWrite5m, writes],
    [usage.cacheWrite1h, price.cacheWrite1h ?? writes],
    [usage.output, output],
    [usage.reasoning, price.reasoning ?? output],
    [usage.audioInput, price.audioInput ?? input],
    [usage.audioOutput, price.audioOutput ?? output],
    // A rate per thousand searches, in the units of a rate per million tokens.
    [usage.webSearches, price.webSearch === undefined ? null : price.webSearch * 1000],
  ];
  let millionths = 0;
  for (const [tokens, rate] of buckets) {
    if (tokens === 0) continue;
    if (rate === null || !(tokens > 0)) return null;
    millionths += tokens * rateAt(rate, total);
  }
  return millionths / 1_000_000;
}

/** The rate for a request with so many input tokens. Tiers may stand in any order. */
function rateAt(rate: Rate, inputTokens: number): number {
  if (typeof rate === 'number') return rate;
  let chosen = { above: -1, rate: rate.base };
  for (const tier of rate.tiers) {
    if (inputTokens > tier.above && tier.above > chosen.above) chosen = tier;
  }
  return chosen.rate;
}
