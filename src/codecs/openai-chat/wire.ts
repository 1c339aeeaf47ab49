import type { WireChoice } from '../openai-shared/wire.ts';

/**
 * What the gateway reads of the chat format (OpenAI API reference, "Chat Completions"), with what other vendors' clients and
 * servers write into it. Nothing here is checked: each value is unknown until a reader has looked at it, and each name
 * may be absent. They are types and not interfaces, so that any object that was parsed is one of them, and they are objects of
 * JSON; a name that none of them has does not compile.
 */
export type ChatRequest = {
  model?: unknown;
  messages?: unknown;
  tools?: unknown;
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
  max_tokens?: unknown;
  max_completion_tokens?: unknown;
  temperature?: unknown;
  top_p?: unknown;
  top_k?: unknown;
  stop?: unknown;
  seed?: unknown;
  frequency_penalty?: unknown;
  presence_penalty?: unknown;
  n?: unknown;
  logprobs?: unknown;
  top_logprobs?: unknown;
  reasoning_effort?: unknown;
  response_format?: unknown;
  verbosity?: unknown;
  user?: unknown;
  safety_identifier?: unknown;
  prompt_cache_key?: unknown;
  service_tier?: unknown;
  metadata?: unknown;
  store?: unknown;
  stream?: unknown;
  stream_options?: unknown;
  web_search_options?: unknown;
  modalities?: unknown;
  /** Tools from before `tools`. */
  functions?: unknown;
  function_call?: unknown;
  /** OpenRouter's. */
  reasoning?: unknown;
  include_reasoning?: unknown;
  /** DeepSeek's, Kimi's and GLM's. */
  thinking?: unknown;
};

/** A message of a request or of a whole answer, and what a delta adds to one. */
export type ChatMessage = {
  role?: unknown;
  name?: unknown;
  /** A text, or a list of `MessagePart`. */
  content?: unknown;
  refusal?: unknown;
  audio?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
  function_call?: unknown;
  annotations?: unknown;
  /** OpenRouter's and LiteLLM's: a list of `MessagePart`. */
  images?: unknown;
  /** DeepSeek's and others'. */
  reasoning_content?: unknown;
  /** OpenRouter's and Groq's. */
  reasoning?: unknown;
  reasoning_details?: unknown;
} & Signable &
  Markable;

export type MessagePart = {
  type?: unknown;
  text?: unknown;
  refusal?: unknown;
  /** An `ImageUrl`, or the address alone. */
  image_url?: unknown;
  file?: unknown;
  input_audio?: unknown;
  /** Mistral's: a text, or a list of texts. */
  thinking?: unknown;
} & Markable;

/** Marks for the prompt cache: Anthropic's, which several gateways take, and OpenAI's. */
export type Markable = {
  cache_control?: unknown;
  prompt_cache_breakpoint?: unknown;
};

export type CacheControl = {
  ttl?: unknown;
};

/** Where Google's own chat surface keeps the signatures of its models. */
export type Signable = {
  extra_content?: unknown;
};

export type ExtraContent = {
  google?: unknown;
};

export type GoogleExtra = {
  thought_signature?: unknown;
};

export type ImageUrl = {
  url?: unknown;
  detail?: unknown;
};

export type InputFile = {
  filename?: unknown;
  file_data?: unknown;
  file_id?: unknown;
};

export type InputAudio = {
  data?: unknown;
  format?: unknown;
};

export type ToolCall = {
  id?: unknown;
  index?: unknown;
  type?: unknown;
  function?: unknown;
  custom?: unknown;
  /** Of a call that some servers write without the `function` around them. */
  name?: unknown;
  arguments?: unknown;
} & Signable;

/** The fields of a call for its function or its custom tool. */
export type Called = {
  name?: unknown;
  arguments?: unknown;
  input?: unknown;
};

/** A tool that is offered. */
export type ToolOffer = {
  type?: unknown;
  function?: unknown;
  custom?: unknown;
} & ToolDescription &
  Markable;

/** A function or a custom tool; some clients write it without the `function` around it. */
export type ToolDescription = {
  name?: unknown;
  description?: unknown;
  parameters?: unknown;
  strict?: unknown;
  format?: unknown;
};

export type CustomFormat = {
  type?: unknown;
  grammar?: unknown;
};

export type Grammar = {
  syntax?: unknown;
  definition?: unknown;
};

export type ToolChoiceOption = {
  type?: unknown;
  name?: unknown;
  function?: unknown;
  custom?: unknown;
  allowed_tools?: unknown;
};

export type AllowedTools = {
  mode?: unknown;
  tools?: unknown;
};

export type ResponseFormat = {
  type?: unknown;
  json_schema?: unknown;
};

export type JsonSchemaFormat = {
  name?: unknown;
  description?: unknown;
  schema?: unknown;
  strict?: unknown;
};

export type StreamOptions = {
  include_usage?: unknown;
};

export type SearchOptions = {
  user_location?: unknown;
};

export type UserLocation = {
  approximate?: unknown;
};

export type ReasoningOption = {
  effort?: unknown;
  enabled?: unknown;
  max_tokens?: unknown;
  exclude?: unknown;
};

export type ThinkingOption = {
  type?: unknown;
  budget_tokens?: unknown;
};

/** One of `reasoning_details`. */
export type ReasoningDetail = {
  type?: unknown;
  id?: unknown;
  index?: unknown;
  text?: unknown;
  summary?: unknown;
  data?: unknown;
  signature?: unknown;
};

/** Some vendors send the whole `message` in a chunk, in place of a delta. */
export type ChatChoice = WireChoice & {
  message?: unknown;
  delta?: unknown;
};

export type Annotation = {
  url_citation?: unknown;
};

export type UrlCitation = {
  url?: unknown;
  title?: unknown;
  content?: unknown;
  start_index?: unknown;
  end_index?: unknown;
};
