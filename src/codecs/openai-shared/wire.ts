/**
 * What the gateway reads of the records that OpenAI's chat and completions formats share, with what other vendors' servers
 * write into them. For the rules of such types see `openai-chat/wire.ts`.
 */
export type ChoiceChunk = {
  id?: unknown;
  model?: unknown;
  object?: unknown;
  type?: unknown;
  choices?: unknown;
  usage?: unknown;
  service_tier?: unknown;
  error?: unknown;
  /** Groq's: usage. */
  x_groq?: unknown;
  obfuscation?: unknown;
};

export type WireChoice = {
  index?: unknown;
  finish_reason?: unknown;
  logprobs?: unknown;
  /** Moonshot's. */
  usage?: unknown;
};

export type GroqReport = {
  usage?: unknown;
};

/** An error, as an object; servers of this format have many shapes of it (`failures/vendor-message.ts`). */
export type WireError = {
  message?: unknown;
  type?: unknown;
  code?: unknown;
  status?: unknown;
  status_code?: unknown;
  error?: unknown;
};

/** Usage as OpenAI's chat and completions report it, and the names that other vendors have for the same. */
export type PromptCounts = {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  total_tokens?: unknown;
  prompt_tokens_details?: unknown;
  completion_tokens_details?: unknown;
  reasoning_tokens?: unknown;
  cached_tokens?: unknown;
  /** DeepSeek's. */
  prompt_cache_hit_tokens?: unknown;
  /** Anthropic's, which gateways pass on. */
  cache_read_input_tokens?: unknown;
  cache_creation_input_tokens?: unknown;
  server_tool_use?: unknown;
};

export type InputDetails = {
  cached_tokens?: unknown;
  cache_write_tokens?: unknown;
  audio_tokens?: unknown;
};

export type OutputDetails = {
  reasoning_tokens?: unknown;
  audio_tokens?: unknown;
};

export type ServerToolCounts = {
  web_search_requests?: unknown;
};
