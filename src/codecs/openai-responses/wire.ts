/**
 * What the gateway reads of the responses format (OpenAI API reference, "Responses"; Open Responses), with what other
 * vendors' servers write into it. For the rules of such types see `openai-chat/wire.ts`.
 */
export type ResponsesRequest = {
  model?: unknown;
  /** A text, or a list of `ResponsesItem`. */
  input?: unknown;
  instructions?: unknown;
  tools?: unknown;
  tool_choice?: unknown;
  parallel_tool_calls?: unknown;
  max_output_tokens?: unknown;
  temperature?: unknown;
  top_p?: unknown;
  top_logprobs?: unknown;
  reasoning?: unknown;
  text?: unknown;
  include?: unknown;
  truncation?: unknown;
  user?: unknown;
  safety_identifier?: unknown;
  prompt_cache_key?: unknown;
  service_tier?: unknown;
  metadata?: unknown;
  store?: unknown;
  stream?: unknown;
  stream_options?: unknown;
  background?: unknown;
  /** What needs memory of earlier answers. */
  previous_response_id?: unknown;
  conversation?: unknown;
  prompt?: unknown;
};

/** An item of the input or of the output: a message, a reasoning, a call, a result, and the items of the vendor's own tools. */
export type ResponsesItem = {
  type?: unknown;
  id?: unknown;
  status?: unknown;
  role?: unknown;
  /** Of a message and of a reasoning: a text, or a list of `ItemPart`. */
  content?: unknown;
  /** Of a reasoning: a list of `ItemPart`. */
  summary?: unknown;
  encrypted_content?: unknown;
  /** Of calls and their results. */
  call_id?: unknown;
  name?: unknown;
  namespace?: unknown;
  arguments?: unknown;
  input?: unknown;
  output?: unknown;
  execution?: unknown;
  /** Of a code interpreter. */
  code?: unknown;
  /** Of a search: a `SearchAction`. */
  action?: unknown;
  /** Of a picture. */
  result?: unknown;
  output_format?: unknown;
  /** Tools that an item brings. */
  tools?: unknown;
};

export type ItemPart = {
  type?: unknown;
  text?: unknown;
  refusal?: unknown;
  annotations?: unknown;
  logprobs?: unknown;
  detail?: unknown;
  image_url?: unknown;
  filename?: unknown;
  file_id?: unknown;
  file_data?: unknown;
  file_url?: unknown;
  input_audio?: unknown;
  prompt_cache_breakpoint?: unknown;
};

export type InputAudio = {
  data?: unknown;
  format?: unknown;
};

export type Annotation = {
  url?: unknown;
  title?: unknown;
  filename?: unknown;
  start_index?: unknown;
  end_index?: unknown;
};

export type SearchAction = {
  url?: unknown;
  query?: unknown;
  queries?: unknown;
  sources?: unknown;
};

export type SearchSource = {
  url?: unknown;
};

/** A tool that is offered, and one that is chosen. */
export type ResponsesTool = {
  type?: unknown;
  name?: unknown;
  description?: unknown;
  parameters?: unknown;
  strict?: unknown;
  format?: unknown;
  execution?: unknown;
  /** Of a namespace. */
  tools?: unknown;
  /** Of a search of the web. */
  filters?: unknown;
  user_location?: unknown;
};

export type CustomFormat = {
  type?: unknown;
  syntax?: unknown;
  definition?: unknown;
};

export type SearchFilters = {
  allowed_domains?: unknown;
  blocked_domains?: unknown;
};

export type ToolChoiceOption = {
  type?: unknown;
  name?: unknown;
  mode?: unknown;
  tools?: unknown;
};

export type ReasoningOption = {
  effort?: unknown;
  summary?: unknown;
};

export type TextOption = {
  format?: unknown;
  verbosity?: unknown;
};

export type TextFormat = {
  type?: unknown;
  name?: unknown;
  description?: unknown;
  schema?: unknown;
  strict?: unknown;
};

/** A whole response, and the one in an event. */
export type ResponsesAnswer = {
  id?: unknown;
  model?: unknown;
  status?: unknown;
  output?: unknown;
  usage?: unknown;
  error?: unknown;
  incomplete_details?: unknown;
  service_tier?: unknown;
  completed_at?: unknown;
  output_text?: unknown;
};

export type IncompleteDetails = {
  reason?: unknown;
};

export type ResponsesCounts = {
  input_tokens?: unknown;
  output_tokens?: unknown;
  total_tokens?: unknown;
  input_tokens_details?: unknown;
  output_tokens_details?: unknown;
  /** xAI's. */
  server_side_tool_usage_details?: unknown;
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
  web_search_calls?: unknown;
};

export type ResponsesEvent = {
  type?: unknown;
  response?: unknown;
  error?: unknown;
  /** Where the event belongs. */
  output_index?: unknown;
  content_index?: unknown;
  summary_index?: unknown;
  item_id?: unknown;
  /** What it brings. */
  item?: unknown;
  part?: unknown;
  annotation?: unknown;
  delta?: unknown;
  text?: unknown;
  refusal?: unknown;
  arguments?: unknown;
  input?: unknown;
  code?: unknown;
};
