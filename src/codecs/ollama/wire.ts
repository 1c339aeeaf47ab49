/**
 * What the gateway reads of Ollama's chat format (API reference, "Generate a chat message"). For the rules of such types see
 * `openai-chat/wire.ts`.
 */
export type OllamaRequest = {
  model?: unknown;
  messages?: unknown;
  tools?: unknown;
  stream?: unknown;
  /** The word for any JSON, or a schema. */
  format?: unknown;
  think?: unknown;
  logprobs?: unknown;
  top_logprobs?: unknown;
  options?: unknown;
};

/** The options by the path that errors and dropped fields name them with. */
export type OptionPaths = {
  'options.num_predict'?: unknown;
  'options.temperature'?: unknown;
  'options.top_p'?: unknown;
  'options.top_k'?: unknown;
  'options.stop'?: unknown;
  'options.seed'?: unknown;
  'options.frequency_penalty'?: unknown;
  'options.presence_penalty'?: unknown;
};

/** A message of a request, and what a line of an answer adds to one. */
export type OllamaMessage = {
  role?: unknown;
  content?: unknown;
  thinking?: unknown;
  images?: unknown;
  tool_calls?: unknown;
  tool_name?: unknown;
  tool_call_id?: unknown;
};

export type ToolCall = {
  id?: unknown;
  function?: unknown;
};

/** The fields of a call; some servers write them without the `function` around them. */
export type Called = {
  name?: unknown;
  arguments?: unknown;
};

export type ToolOffer = {
  type?: unknown;
  function?: unknown;
};

export type ToolDescription = {
  name?: unknown;
  description?: unknown;
  parameters?: unknown;
};

/** A whole answer, or a line of a stream. */
export type OllamaAnswer = {
  model?: unknown;
  created_at?: unknown;
  message?: unknown;
  logprobs?: unknown;
  done?: unknown;
  done_reason?: unknown;
  prompt_eval_count?: unknown;
  eval_count?: unknown;
  error?: unknown;
};
