/** The wire formats: one folder each beside this file. `openai-embeddings` has no stream and no messages. */
export type WireFormat =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'openai-embeddings'
  | 'anthropic-messages'
  | 'gemini'
  | 'ollama';

/**
 * Tokens of one answer in disjoint buckets: no token is counted in two of them, so that cost is a plain sum.
 * Every wire format is read into, and rendered from, this record.
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
  /** Server-side web searches, a count. */
  webSearches: number;
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
  webSearches: 0,
});
