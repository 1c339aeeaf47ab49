/**
 * What the gateway reads of the messages format (Anthropic API reference, "Create a Message", "Streaming Messages"). For the
 * rules of such types see `openai-chat/wire.ts`.
 */
export type MessagesRequest = {
  model?: unknown;
  messages?: unknown;
  /** A text, or a list of `MessageBlock`. */
  system?: unknown;
  tools?: unknown;
  tool_choice?: unknown;
  max_tokens?: unknown;
  temperature?: unknown;
  top_p?: unknown;
  top_k?: unknown;
  stop_sequences?: unknown;
  thinking?: unknown;
  output_config?: unknown;
  /** Its name in the beta of structured outputs. */
  output_format?: unknown;
  metadata?: unknown;
  service_tier?: unknown;
  stream?: unknown;
  cache_control?: unknown;
};

export type MessageParam = {
  role?: unknown;
  /** A text, or a list of `MessageBlock`. */
  content?: unknown;
};

/** A block of content in requests and answers: text, thinking, a call, a result, an image … */
export type MessageBlock = {
  type?: unknown;
  id?: unknown;
  text?: unknown;
  citations?: unknown;
  thinking?: unknown;
  signature?: unknown;
  /** Of a redacted thought. */
  data?: unknown;
  /** Of a call. */
  name?: unknown;
  input?: unknown;
  /** Of a result. */
  tool_use_id?: unknown;
  content?: unknown;
  is_error?: unknown;
  /** Of a picture and a document. */
  source?: unknown;
  title?: unknown;
  context?: unknown;
  /** Of a reference to a tool. */
  tool_name?: unknown;
  cache_control?: unknown;
};

export type CacheControl = {
  ttl?: unknown;
};

export type BlockSource = {
  type?: unknown;
  media_type?: unknown;
  data?: unknown;
  url?: unknown;
  file_id?: unknown;
  content?: unknown;
};

export type CitationsOption = {
  enabled?: unknown;
};

/** A tool that is offered: one that the client runs, or the vendor's search. */
export type ToolOffer = {
  type?: unknown;
  name?: unknown;
  description?: unknown;
  input_schema?: unknown;
  strict?: unknown;
  defer_loading?: unknown;
  cache_control?: unknown;
  max_uses?: unknown;
  allowed_domains?: unknown;
  blocked_domains?: unknown;
  user_location?: unknown;
};

export type ToolChoiceOption = {
  type?: unknown;
  name?: unknown;
  disable_parallel_tool_use?: unknown;
};

export type ThinkingOption = {
  type?: unknown;
  budget_tokens?: unknown;
  display?: unknown;
};

export type OutputConfig = {
  effort?: unknown;
  format?: unknown;
};

export type OutputFormat = {
  type?: unknown;
  schema?: unknown;
};

/** What is read of an answer's schema by its name; all its keywords are walked. */
export type SchemaWords = {
  type?: unknown;
  description?: unknown;
  properties?: unknown;
  patternProperties?: unknown;
  additionalProperties?: unknown;
};

export type RequestMetadata = {
  user_id?: unknown;
};

/** A whole answer, and the one that a stream begins with. */
export type MessagesAnswer = {
  id?: unknown;
  model?: unknown;
  content?: unknown;
  usage?: unknown;
  stop_reason?: unknown;
  stop_sequence?: unknown;
  stop_details?: unknown;
};

export type StopDetails = {
  explanation?: unknown;
};

export type MessagesCounts = {
  input_tokens?: unknown;
  output_tokens?: unknown;
  cache_read_input_tokens?: unknown;
  cache_creation_input_tokens?: unknown;
  cache_creation?: unknown;
  output_tokens_details?: unknown;
  server_tool_use?: unknown;
  iterations?: unknown;
  service_tier?: unknown;
  speed?: unknown;
};

/** One of `iterations`, whose counts stand beside its type. */
export type Iteration = MessagesCounts & {
  type?: unknown;
};

export type CacheLifetimes = {
  ephemeral_5m_input_tokens?: unknown;
  ephemeral_1h_input_tokens?: unknown;
};

export type OutputDetails = {
  thinking_tokens?: unknown;
};

export type ServerToolCounts = {
  web_search_requests?: unknown;
};

export type MessagesEvent = {
  type?: unknown;
  message?: unknown;
  index?: unknown;
  content_block?: unknown;
  /** A `BlockDelta`; of `message_delta` the end of a `MessagesAnswer`. */
  delta?: unknown;
  usage?: unknown;
  error?: unknown;
};

export type BlockDelta = {
  type?: unknown;
  text?: unknown;
  thinking?: unknown;
  signature?: unknown;
  partial_json?: unknown;
  citation?: unknown;
};

export type BlockCitation = {
  url?: unknown;
  source?: unknown;
  title?: unknown;
  document_title?: unknown;
  cited_text?: unknown;
};

export type MessagesError = {
  type?: unknown;
  message?: unknown;
};

/** The query of the vendor's search, and its results. */
export type SearchInput = {
  query?: unknown;
};

export type SearchResult = {
  url?: unknown;
  title?: unknown;
  error_code?: unknown;
};
