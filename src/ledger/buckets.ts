import { MAX_COUNT } from '../codecs/json/values.ts';
import type { LedgerEntry } from './schema.ts';

export type Usage = NonNullable<LedgerEntry['usage']>;

/** What is counted of an answer: the member of an entry, its name in what is shown, and its column. */
export const buckets = [
  { member: 'input', name: 'input', column: 'input_tokens' },
  { member: 'cacheRead', name: 'cache_read', column: 'cache_read_tokens' },
  { member: 'cacheWrite5m', name: 'cache_write_5m', column: 'cache_write_5m_tokens' },
  { member: 'cacheWrite1h', name: 'cache_write_1h', column: 'cache_write_1h_tokens' },
  { member: 'output', name: 'output', column: 'output_tokens' },
  { member: 'reasoning', name: 'reasoning', column: 'reasoning_tokens' },
  { member: 'audioInput', name: 'audio_input', column: 'audio_input_tokens' },
  { member: 'audioOutput', name: 'audio_output', column: 'audio_output_tokens' },
  { member: 'imageInput', name: 'image_input', column: 'image_input_tokens' },
  { member: 'imageOutput', name: 'image_output', column: 'image_output_tokens' },
  { member: 'webSearches', name: 'web_searches', column: 'web_searches' },
  { member: 'images', name: 'images', column: 'images' },
  { member: 'audioSeconds', name: 'audio_seconds', column: 'audio_seconds' },
  { member: 'characters', name: 'characters', column: 'characters' },
  { member: 'searchUnits', name: 'search_units', column: 'search_units' },
] as const satisfies readonly { member: keyof Usage; name: string; column: string }[];

export type BucketColumn = (typeof buckets)[number]['column'];
export type BucketName = (typeof buckets)[number]['name'];

/** All buckets of the input: cached, written to the cache, audio and pictures included. */
export const inputColumns = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'image_input_tokens',
] as const satisfies readonly BucketColumn[];

/** All buckets of the output: reasoning, audio and pictures included. */
export const outputColumns = [
  'output_tokens',
  'reasoning_tokens',
  'audio_output_tokens',
  'image_output_tokens',
] as const satisfies readonly BucketColumn[];

/** All tokens that went in. */
export function inputTokens(usage: Usage): number {
  const { audioInput, cacheRead, cacheWrite1h, cacheWrite5m, imageInput, input } = usage;
  return input + cacheRead + cacheWrite5m + cacheWrite1h + audioInput + imageInput;
}

/** All tokens that came out. */
export function outputTokens({ audioOutput, imageOutput, output, reasoning }: Usage): number {
  return output + reasoning + audioOutput + imageOutput;
}

/** What is counted by another unit than tokens. */
export const otherColumns = [
  'web_searches',
  'images',
  'audio_seconds',
  'characters',
  'search_units',
] as const satisfies readonly BucketColumn[];

/** Whether an upstream reported more than any answer can use, so that less was counted. */
export function isCapped(usage: Usage): boolean {
  const { audioSeconds, characters, images, searchUnits, webSearches } = usage;
  const counts = [inputTokens(usage), outputTokens(usage)];
  return Math.max(...counts, audioSeconds, characters, images, searchUnits, webSearches) >= MAX_COUNT;
}
