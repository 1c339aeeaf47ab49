import type { WireChoice } from '../openai-shared/wire.ts';

/**
 * What the gateway reads of the completions format (OpenAI API reference, "Completions"). For the rules of such types see
 * `openai-chat/wire.ts`.
 */
export type CompletionsRequest = {
  model?: unknown;
  prompt?: unknown;
  suffix?: unknown;
  echo?: unknown;
  best_of?: unknown;
  n?: unknown;
  logprobs?: unknown;
  max_tokens?: unknown;
  temperature?: unknown;
  top_p?: unknown;
  stop?: unknown;
  seed?: unknown;
  frequency_penalty?: unknown;
  presence_penalty?: unknown;
  user?: unknown;
  stream?: unknown;
  stream_options?: unknown;
};

export type StreamOptions = {
  include_usage?: unknown;
};

export type CompletionsChoice = WireChoice & {
  text?: unknown;
};
