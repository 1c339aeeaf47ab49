/**
 * The wire formats, in folders beside this file. Those from `openai-embeddings` on have no messages: one request, one
 * answer, or bytes that pass through (`media.ts`).
 */
export type WireFormat =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'anthropic-messages'
  | 'gemini'
  | 'ollama'
  | 'openai-embeddings'
  | 'openai-images'
  | 'openai-image-edits'
  | 'openai-speech'
  | 'openai-transcriptions'
  | 'openai-translations'
  | 'openai-moderations'
  | 'rerank';

/**
 * The usage of one answer, in disjoint buckets: nothing is counted in two of them, so that the cost is a plain sum.
 * Buckets count tokens unless they say otherwise. Every wire format is read into, and written from, this record.
 */
export interface Usage {
  /** Fresh text input: neither read from nor written to a prompt cache. */
  input: number;
  cacheRead: number;
  /** Written to the provider's prompt cache for five minutes (or for a time it does not name). */
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Visible output, without reasoning. */
  output: number;
  reasoning: number;
  audioInput: number;
  audioOutput: number;
  /** Tokens of pictures that were given and made, where they are reported apart from text. */
  imageInput: number;
  imageOutput: number;
  /** Server-side web searches, a count. */
  webSearches: number;
  /** Pictures that were made, where no tokens are reported for them. */
  images: number;
  /** Length of recorded speech, where it is what is reported. */
  audioSeconds: number;
  /** Characters of text that was spoken, where no tokens are reported for it. */
  characters: number;
  /** Units of reranking, as the vendor counts them. */
  searchUnits: number;
}

export const noUsage: Readonly<Usage> = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  imageOutput: 0,
  webSearches: 0,
  images: 0,
  audioSeconds: 0,
  characters: 0,
  searchUnits: 0,
});

/** The sum of two uses. */
export function addUsage(one: Usage, other: Usage): Usage {
  const sum = { ...one };
  for (const field of Object.keys(sum) as (keyof Usage)[]) sum[field] += other[field];
  return sum;
}
