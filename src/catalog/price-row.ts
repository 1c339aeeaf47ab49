import type { ModelPrice } from './price.ts';

/** A price as it is shown: USD per million tokens, where nothing else is said; null where it is not known apart. */
export function rowOfPrice(price: ModelPrice) {
  return {
    currency: 'USD',
    per_tokens: 1_000_000,
    input: price.input,
    output: price.output,
    cache_read: price.cacheRead ?? null,
    cache_write_5m: price.cacheWrite5m ?? null,
    cache_write_1h: price.cacheWrite1h ?? null,
    reasoning: price.reasoning ?? null,
    audio_input: price.audioInput ?? null,
    audio_output: price.audioOutput ?? null,
    image_input: price.imageInput ?? null,
    image_output: price.imageOutput ?? null,
    per_image: price.image ?? null,
    per_audio_hour: price.audioHour ?? null,
    per_million_characters: price.characters ?? null,
    per_thousand_search_units: price.searchUnit ?? null,
    source: price.source,
  };
}
