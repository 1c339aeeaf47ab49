/**
 * What the gateway reads of Gemini's format (Gemini API reference, `GenerateContentRequest`, `GenerateContentResponse`), in
 * camel case (`wire-names.ts`). For the rules of such types see `openai-chat/wire.ts`.
 */
export type GeminiRequest = {
  /** These two hold what the path contains. */
  model?: unknown;
  stream?: unknown;
  contents?: unknown;
  systemInstruction?: unknown;
  tools?: unknown;
  toolConfig?: unknown;
  generationConfig?: unknown;
  serviceTier?: unknown;
  cachedContent?: unknown;
};

export type GenerationConfig = {
  candidateCount?: unknown;
  stopSequences?: unknown;
  maxOutputTokens?: unknown;
  temperature?: unknown;
  topP?: unknown;
  topK?: unknown;
  seed?: unknown;
  presencePenalty?: unknown;
  frequencyPenalty?: unknown;
  responseLogprobs?: unknown;
  logprobs?: unknown;
  responseMimeType?: unknown;
  responseSchema?: unknown;
  responseJsonSchema?: unknown;
  /** As the vendor's first SDKs for JSON Schema wrote it. */
  _responseJsonSchema?: unknown;
  responseModalities?: unknown;
  thinkingConfig?: unknown;
};

export type ThinkingConfig = {
  includeThoughts?: unknown;
  thinkingBudget?: unknown;
  thinkingLevel?: unknown;
};

export type Content = {
  role?: unknown;
  parts?: unknown;
};

/** A part of a content. What else it may hold is read by its name alone. */
export type ContentPart = {
  text?: unknown;
  thought?: unknown;
  thoughtSignature?: unknown;
  thought_signature?: unknown;
  functionCall?: unknown;
  function_call?: unknown;
  functionResponse?: unknown;
  inlineData?: unknown;
  fileData?: unknown;
  executableCode?: unknown;
  codeExecutionResult?: unknown;
};

export type FunctionCall = {
  id?: unknown;
  name?: unknown;
  args?: unknown;
  /** Vertex AI's: a list of `PartialArg`, and whether more comes. */
  partialArgs?: unknown;
  willContinue?: unknown;
};

export type PartialArg = {
  jsonPath?: unknown;
  stringValue?: unknown;
  numberValue?: unknown;
  boolValue?: unknown;
  nullValue?: unknown;
};

export type FunctionResponse = {
  id?: unknown;
  name?: unknown;
  response?: unknown;
  parts?: unknown;
};

export type InlineData = {
  mimeType?: unknown;
  data?: unknown;
  displayName?: unknown;
};

export type FileData = {
  mimeType?: unknown;
  fileUri?: unknown;
  displayName?: unknown;
};

export type ExecutableCode = {
  code?: unknown;
  language?: unknown;
};

export type CodeResult = {
  outcome?: unknown;
  output?: unknown;
};

export type ToolOffer = {
  functionDeclarations?: unknown;
};

export type FunctionDeclaration = {
  name?: unknown;
  description?: unknown;
  parameters?: unknown;
  parametersJsonSchema?: unknown;
};

export type SearchOption = {
  excludeDomains?: unknown;
};

export type ToolConfig = {
  functionCallingConfig?: unknown;
};

export type CallingConfig = {
  mode?: unknown;
  allowedFunctionNames?: unknown;
};

/** What is read of a schema by its name; all its keywords are walked. */
export type SchemaWords = {
  type?: unknown;
  enum?: unknown;
  anyOf?: unknown;
  nullable?: unknown;
};

/** A whole answer, or a chunk of a stream. */
export type GeminiAnswer = {
  candidates?: unknown;
  promptFeedback?: unknown;
  usageMetadata?: unknown;
  responseId?: unknown;
  modelVersion?: unknown;
  error?: unknown;
  /** Cloud Code's, around the answer. */
  response?: unknown;
};

export type Candidate = {
  index?: unknown;
  content?: unknown;
  finishReason?: unknown;
  finishMessage?: unknown;
  groundingMetadata?: unknown;
  citationMetadata?: unknown;
  logprobsResult?: unknown;
};

export type PromptFeedback = {
  blockReason?: unknown;
  blockReasonMessage?: unknown;
};

export type UsageMetadata = {
  promptTokenCount?: unknown;
  candidatesTokenCount?: unknown;
  /** Its name in the live API. */
  responseTokenCount?: unknown;
  totalTokenCount?: unknown;
  thoughtsTokenCount?: unknown;
  toolUsePromptTokenCount?: unknown;
  cachedContentTokenCount?: unknown;
  promptTokensDetails?: unknown;
  cacheTokensDetails?: unknown;
  candidatesTokensDetails?: unknown;
  serviceTier?: unknown;
  /** That of Google's cloud. */
  trafficType?: unknown;
};

export type ModalityCount = {
  modality?: unknown;
  tokenCount?: unknown;
};

/** The answer of `countTokens`. */
export type TokenCount = {
  totalTokens?: unknown;
};

export type GroundingMetadata = {
  webSearchQueries?: unknown;
  groundingChunks?: unknown;
  groundingSupports?: unknown;
};

export type GroundingSupport = {
  segment?: unknown;
  groundingChunkIndices?: unknown;
};

export type Segment = {
  startIndex?: unknown;
  endIndex?: unknown;
  text?: unknown;
};

/** Of one kind: `web`, `retrievedContext`, `maps`, `image`. */
export type GroundingChunk = {
  web?: unknown;
};

export type GroundingSource = {
  uri?: unknown;
  sourceUri?: unknown;
  title?: unknown;
  text?: unknown;
};

export type CitationMetadata = {
  citations?: unknown;
  citationSources?: unknown;
};

export type CitationSource = {
  startIndex?: unknown;
  endIndex?: unknown;
  uri?: unknown;
  title?: unknown;
};

export type GoogleError = {
  code?: unknown;
  message?: unknown;
  status?: unknown;
  details?: unknown;
};

export type ErrorDetail = {
  '@type'?: unknown;
  reason?: unknown;
  retryDelay?: unknown;
};
