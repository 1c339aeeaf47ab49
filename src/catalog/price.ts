import type { PriceOverride } from '../config.ts';
import type { TierPrice } from '../providers/provider.ts';
import type { PricePeriod } from './schema.ts';

/** USD per million tokens: flat, or higher for the whole request once its input tokens are more than `above`. */
export type Rate = number | { base: number; tiers: readonly { above: number; rate: number }[] };

/** What a model costs at one time. A rate that is missing falls back as `costOf` says. */
export interface ModelPrice {
  /** Null for a model that is not priced by tokens (speech by the hour). */
  input: Rate | null;
  /** Null for a model that has no output to pay for (embeddings). */
  output: Rate | null;
  cacheRead?: Rate;
  cacheWrite5m?: Rate;
  cacheWrite1h?: Rate;
  reasoning?: Rate;
  audioInput?: Rate;
  audioOutput?: Rate;
  imageInput?: Rate;
  imageOutput?: Rate;
  /** USD per thousand web searches that the provider runs. */
  webSearch?: number;
  /** USD per picture made. */
  image?: number;
  /** USD per hour of recorded speech. */
  audioHour?: number;
  /** USD per million characters spoken. */
  characters?: number;
  /** USD per thousand units of reranking. */
  searchUnit?: number;
  /** Where it comes from: `genai-prices 0.1.8`, `models.dev 2026-07-01`, `override` or `free`. */
  source: string;
}

/** What costs nothing, by whatever unit it is priced. */
export const free: ModelPrice = {
  input: 0,
  output: 0,
  webSearch: 0,
  image: 0,
  audioHour: 0,
  characters: 0,
  searchUnit: 0,
  source: 'free',
};

/** The last period that applies; the first one, when none does (as the price package reads its own data). */
export function periodAt(periods: readonly PricePeriod[], at: number): PricePeriod | null {
  if (periods.length < 2) return periods[0] ?? null;
  const date = new Date(at).toISOString().slice(0, 10);
  const second = Math.floor(at / 1000) % 86_400;
  return periods.findLast((period) => applies(period, date, second)) ?? periods[0] ?? null;
}

function applies({ from, daily }: PricePeriod, date: string, second: number): boolean {
  if (from !== undefined && date < from) return false;
  if (daily === undefined) return true;
  const [start, end] = daily;
  return end < start ? second >= start || second < end : second >= start && second < end;
}

export function toPrice(period: PricePeriod, source: string): ModelPrice | null {
  if (period.i === undefined && period.x === undefined) return null;
  return {
    input: period.i === undefined ? null : toRate(period.i),
    output: period.o === undefined ? null : toRate(period.o),
    ...(period.r !== undefined && { cacheRead: toRate(period.r) }),
    ...(period.w !== undefined && { cacheWrite5m: toRate(period.w) }),
    ...(period.h !== undefined && { cacheWrite1h: toRate(period.h) }),
    ...(period.t !== undefined && { reasoning: toRate(period.t) }),
    ...(period.a !== undefined && { audioInput: toRate(period.a) }),
    ...(period.b !== undefined && { audioOutput: toRate(period.b) }),
    ...(period.p !== undefined && { imageInput: toRate(period.p) }),
    ...(period.q !== undefined && { imageOutput: toRate(period.q) }),
    ...(period.s !== undefined && { webSearch: period.s }),
    ...(period.x !== undefined && { audioHour: period.x }),
    source,
  };
}

function toRate(value: number | number[]): Rate {
  if (typeof value === 'number') return value;
  const [base = 0, ...rest] = value;
  const tiers: { above: number; rate: number }[] = [];
  for (let index = 0; index + 1 < rest.length; index += 2) {
    tiers.push({ above: rest[index] ?? 0, rate: rest[index + 1] ?? 0 });
  }
  return { base, tiers };
}

/** The rates by the token, which a tier is a multiple of; searches and pictures cost the same in each. */
const tokenRates = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'reasoning',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
] as const satisfies readonly (keyof ModelPrice)[];

/** A price whose rates by the token are a multiple of another's. Its source names both. */
export function scaledPrice(price: ModelPrice, { factor, source }: TierPrice): ModelPrice {
  const scaled: ModelPrice = { ...price, source: `${price.source}, × ${factor} (${source})` };
  for (const name of tokenRates) {
    const rate = price[name];
    if (rate !== undefined && rate !== null) scaled[name] = timesFactor(rate, factor);
  }
  return scaled;
}

function timesFactor(rate: Rate, factor: number): Rate {
  if (typeof rate === 'number') return times(rate, factor);
  const tiers = rate.tiers.map(({ above, rate: higher }) => ({ above, rate: times(higher, factor) }));
  return { base: times(rate.base, factor), tiers };
}

/** Without the last bits of a binary product: no price has so many decimals. */
function times(rate: number, factor: number): number {
  return Number((rate * factor).toPrecision(12));
}

/** An override says nothing of web searches, so the table's rate stays. */
export function fromOverride(own: PriceOverride, webSearch: number | undefined): ModelPrice {
  return {
    input: own.input ?? null,
    output: own.output ?? null,
    ...(own.cache_read !== undefined && { cacheRead: own.cache_read }),
    ...(own.cache_write_5m !== undefined && { cacheWrite5m: own.cache_write_5m }),
    ...(own.cache_write_1h !== undefined && { cacheWrite1h: own.cache_write_1h }),
    ...(own.reasoning !== undefined && { reasoning: own.reasoning }),
    ...(own.audio_input !== undefined && { audioInput: own.audio_input }),
    ...(own.audio_output !== undefined && { audioOutput: own.audio_output }),
    ...(own.image_input !== undefined && { imageInput: own.image_input }),
    ...(own.image_output !== undefined && { imageOutput: own.image_output }),
    ...(own.image !== undefined && { image: own.image }),
    ...(own.audio_hour !== undefined && { audioHour: own.audio_hour }),
    ...(own.characters !== undefined && { characters: own.characters }),
    ...(own.search_unit !== undefined && { searchUnit: own.search_unit }),
    ...(webSearch !== undefined && { webSearch }),
    source: 'override',
  };
}

/** A rate as people read it: `2.5`, or `2.5, 5 above 272,000` with its tiers. */
export function displayRate(rate: Rate): string {
  if (typeof rate === 'number') return String(rate);
  const tiers = rate.tiers.map(
    ({ above, rate: higher }) => `${higher} above ${above.toLocaleString('en-US')}`,
  );
  return [rate.base, ...tiers].join(', ');
}
