import { noUsage, type Usage } from '../codecs/wire-format.ts';
import type { ModelPrice, Rate } from './price.ts';

/**
 * What a request cost in USD: the plain sum of its disjoint buckets, each at its rate.
 *
 * A missing rate falls back to the nearest one that is never lower in practice: cache reads, writes, audio and image
 * input to input; one-hour writes to five-minute writes; reasoning, audio and image output to output. The tier is chosen once, by all
 * input tokens together, and holds for every bucket, as the providers bill it.
 * Null when something was used for which no rate is known, or when a count is not a number from zero up:
 * an unknown cost is never 0.
 */
export function costOf(price: ModelPrice, usage: Usage): number | null {
  const { input, output } = price;
  const writes = price.cacheWrite5m ?? input;
  const total = inputOf(usage);
  const buckets: readonly (readonly [amount: number, rate: Rate | null])[] = [
    [usage.input, input],
    [usage.cacheRead, price.cacheRead ?? input],
    [usage.cacheWrite5m, writes],
    [usage.cacheWrite1h, price.cacheWrite1h ?? writes],
    [usage.output, output],
    [usage.reasoning, price.reasoning ?? output],
    [usage.audioInput, price.audioInput ?? input],
    [usage.audioOutput, price.audioOutput ?? output],
    [usage.imageInput, price.imageInput ?? input],
    [usage.imageOutput, price.imageOutput ?? output],
    // What is priced by another unit, in the units of a rate per million.
    [usage.webSearches, scaled(price.webSearch, 1_000)],
    [usage.images, scaled(price.image, 1_000_000)],
    [usage.audioSeconds, scaled(price.audioHour, 1_000_000 / 3_600)],
    [usage.characters, scaled(price.characters, 1)],
    [usage.searchUnits, scaled(price.searchUnit, 1_000)],
  ];
  let millionths = 0;
  for (const [amount, rate] of buckets) {
    if (amount === 0) continue;
    if (rate === null || !(amount > 0)) return null;
    millionths += amount * rateAt(rate, total);
  }
  return millionths / 1_000_000;
}

/**
 * What the provider's prompt cache saved in USD: what the tokens that it gave or stored would have cost as plain input,
 * less what they did cost. Below 0 where more was stored than was ever read. Null where that is not known.
 */
export function cacheSavings(price: ModelPrice, usage: Usage): number | null {
  const { cacheRead, cacheWrite1h, cacheWrite5m } = usage;
  const cached = cacheRead + cacheWrite5m + cacheWrite1h;
  if (cached === 0) return 0;
  const input: Usage = { ...noUsage, input: inputOf(usage) };
  const none = costOf(price, input);
  const some = costOf(price, {
    ...input,
    input: input.input - cached,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h,
  });
  return none === null || some === null ? null : Math.round((none - some) * PICO) / PICO;
}

/** No price has so many decimals. */
const PICO = 1e12;

/** All tokens that went in, by which the tier is chosen. */
function inputOf({ audioInput, cacheRead, cacheWrite1h, cacheWrite5m, imageInput, input }: Usage): number {
  return input + cacheRead + cacheWrite5m + cacheWrite1h + audioInput + imageInput;
}

/** What so many tokens of plain text cost in USD, without any cache; null when a rate is not known. */
export function textCost({ input, output }: ModelPrice, read: number, written: number): number | null {
  if (input === null || output === null) return null;
  return (read * rateAt(input, read) + written * rateAt(output, read)) / 1_000_000;
}

function scaled(rate: number | undefined, factor: number): number | null {
  return rate === undefined ? null : rate * factor;
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
