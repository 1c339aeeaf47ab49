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
  const total = inputOf(usage);
  let millionths = 0;
  for (const { bucket, rateOf } of rates) {
    const amount = usage[bucket];
    if (amount === 0) continue;
    const rate = rateOf(price);
    if (rate === null || !(amount > 0)) return null;
    millionths += amount * rateAt(rate, total);
  }
  return millionths / 1_000_000;
}

/** The rate of each bucket: cached tokens are `cacheRead` and `cacheWrite…`. Made once, because every request is priced several times. */
const rates: readonly { bucket: keyof Usage; rateOf(price: ModelPrice): Rate | null }[] = [
  { bucket: 'input', rateOf: ({ input }) => input },
  { bucket: 'cacheRead', rateOf: ({ cacheRead, input }) => cacheRead ?? input },
  { bucket: 'cacheWrite5m', rateOf: writeRate },
  { bucket: 'cacheWrite1h', rateOf: (price) => price.cacheWrite1h ?? writeRate(price) },
  { bucket: 'output', rateOf: ({ output }) => output },
  { bucket: 'reasoning', rateOf: ({ output, reasoning }) => reasoning ?? output },
  { bucket: 'audioInput', rateOf: ({ audioInput, input }) => audioInput ?? input },
  { bucket: 'audioOutput', rateOf: ({ audioOutput, output }) => audioOutput ?? output },
  { bucket: 'imageInput', rateOf: ({ imageInput, input }) => imageInput ?? input },
  { bucket: 'imageOutput', rateOf: ({ imageOutput, output }) => imageOutput ?? output },
  // What is priced by another unit, in the units of a rate per million.
  { bucket: 'webSearches', rateOf: ({ webSearch }) => scaled(webSearch, 1_000) },
  { bucket: 'images', rateOf: ({ image }) => scaled(image, 1_000_000) },
  { bucket: 'audioSeconds', rateOf: ({ audioHour }) => scaled(audioHour, 1_000_000 / 3_600) },
  { bucket: 'characters', rateOf: ({ characters }) => scaled(characters, 1) },
  { bucket: 'searchUnits', rateOf: ({ searchUnit }) => scaled(searchUnit, 1_000) },
];

function writeRate({ cacheWrite5m, input }: ModelPrice): Rate | null {
  return cacheWrite5m ?? input;
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
