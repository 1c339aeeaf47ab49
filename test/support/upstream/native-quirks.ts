import { framesOf } from './event-frames.ts';
import type { DocumentedError, Quirks } from './provider-quirks.ts';

/** A provider that is asked in its own format, as its documentation says that it answers. */
export interface NativeQuirks extends Pick<Quirks, 'buckets' | 'errors' | 'model' | 'page' | 'provider'> {
  format: 'anthropic-messages' | 'gemini';
  /** Of the base URL, where it is a part of the documented address. */
  path?: string;
  /** A whole answer that thought `THOUGHT` and says `SAID`. */
  whole(): object;
  /** The same as a stream. */
  stream(): { bytes: Buffer | string; type: string };
}

export const THOUGHT = 'Let me think.';
export const SAID = 'Hello.';

const failure = (
  status: number,
  kind: DocumentedError['kind'],
  body: DocumentedError['body'],
  headers: Readonly<Record<string, string>> = {},
): DocumentedError => ({ status, kind, body, headers });

const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

/** Input counts what is neither read from a cache nor written to one; output has the thinking in it. */
const claudeUsage = {
  input_tokens: 60,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 40,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 30,
  output_tokens_details: { thinking_tokens: 10 },
  service_tier: 'standard',
};
const claudeBuckets = { input: 60, cache_read: 40, output: 20, reasoning: 10 };

const claudeMessage = (model: string, content: readonly object[], stop_reason: string | null) => ({
  id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason,
  stop_sequence: null,
});

function claudeWhole(model: string): object {
  const content = [
    { type: 'thinking', thinking: THOUGHT, signature: 'EqQBCgIYAhIM' },
    { type: 'text', text: SAID },
  ];
  return { ...claudeMessage(model, content, 'end_turn'), usage: claudeUsage };
}

/** The start counts the input, the end all of the output; a ping may stand anywhere. */
function claudeStream(model: string): string {
  const { output_tokens, output_tokens_details, ...input } = claudeUsage;
  return [
    {
      type: 'message_start',
      message: { ...claudeMessage(model, [], null), usage: { ...input, output_tokens: 3 } },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: THOUGHT } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'EqQBCgIYAhIM' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: SAID } },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens, output_tokens_details },
    },
    { type: 'message_stop' },
  ]
    .map(event)
    .join('');
}

const claude = (model: string) => ({
  format: 'anthropic-messages' as const,
  model,
  buckets: claudeBuckets,
  whole: () => claudeWhole(model),
  stream: () => ({ bytes: claudeStream(model), type: 'text/event-stream; charset=utf-8' }),
});

const claudeError = (
  status: number,
  kind: DocumentedError['kind'],
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
) =>
  failure(
    status,
    kind,
    { type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' },
    headers,
  );

/** The prompt has what was cached in it, the thoughts stand beside the candidates. */
const geminiUsage = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 10,
  totalTokenCount: 130,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 100 }],
};
const geminiBuckets = { input: 60, cache_read: 40, output: 20, reasoning: 10 };

const geminiChunk = (model: string, parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: geminiUsage,
  modelVersion: model,
  responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
});

const gemini = (model: string) => ({
  format: 'gemini' as const,
  model,
  buckets: geminiBuckets,
  whole: () =>
    geminiChunk(
      model,
      [
        { text: THOUGHT, thought: true },
        { text: SAID, thoughtSignature: 'CtUBAdHtim8=' },
      ],
      {
        finishReason: 'STOP',
      },
    ),
  stream: () => ({
    bytes: [
      geminiChunk(model, [{ text: THOUGHT, thought: true }]),
      geminiChunk(model, [{ text: SAID }]),
      // The signature comes with the reason, in a part without text.
      geminiChunk(model, [{ text: '', thoughtSignature: 'CtUBAdHtim8=' }], { finishReason: 'STOP' }),
    ]
      .map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`)
      .join(''),
    type: 'text/event-stream',
  }),
});

const googleError = (
  status: number,
  kind: DocumentedError['kind'],
  word: string,
  message: string,
  details?: readonly object[],
) => failure(status, kind, { error: { code: status, message, status: word, ...(details && { details }) } });

const quotaOf = (quotaId: string) => [
  {
    '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
    violations: [{ quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests', quotaId }],
  },
  { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' },
];

const awsError = (status: number, kind: DocumentedError['kind'], type: string, message: string) =>
  failure(status, kind, { message }, { 'x-amzn-errortype': type });

const bedrockModel = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';

export const nativeQuirks: readonly NativeQuirks[] = [
  {
    provider: 'anthropic',
    page: 'https://platform.claude.com/docs/en/api/errors',
    ...claude('claude-sonnet-4-5'),
    errors: [
      claudeError(400, 'request', 'invalid_request_error', 'messages: at least one message is required'),
      claudeError(
        400,
        'billing',
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
      claudeError(
        400,
        'context',
        'invalid_request_error',
        'prompt is too long: 208310 tokens > 200000 maximum',
      ),
      claudeError(401, 'credential', 'authentication_error', 'invalid x-api-key'),
      claudeError(
        403,
        'permission',
        'permission_error',
        'Your account does not have permission to use the specified resource.',
      ),
      claudeError(404, 'model', 'not_found_error', 'model: claude-sonnet-9'),
      claudeError(
        429,
        'rate-limit',
        'rate_limit_error',
        'This request would exceed the rate limit for your organization of 40,000 input tokens per minute.',
        { 'retry-after': '12', 'anthropic-ratelimit-input-tokens-remaining': '0' },
      ),
      claudeError(500, 'server', 'api_error', 'Internal server error'),
      claudeError(529, 'overloaded', 'overloaded_error', 'Overloaded'),
    ],
  },
  {
    provider: 'gemini',
    page: 'https://ai.google.dev/gemini-api/docs/troubleshooting',
    ...gemini('gemini-2.5-flash'),
    errors: [
      googleError(400, 'credential', 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
      ]),
      googleError(400, 'request', 'INVALID_ARGUMENT', 'Invalid JSON payload received. Unknown name "x".'),
      googleError(
        400,
        'context',
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
      googleError(403, 'permission', 'PERMISSION_DENIED', 'Your project does not have access to this.'),
      googleError(
        404,
        'model',
        'NOT_FOUND',
        'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
      ),
      googleError(
        429,
        'quota',
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
        quotaOf('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
      ),
      googleError(
        429,
        'rate-limit',
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
        quotaOf('GenerateRequestsPerMinutePerProjectPerModel'),
      ),
      googleError(500, 'server', 'INTERNAL', 'An internal error has occurred.'),
      googleError(503, 'overloaded', 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
      googleError(504, 'timeout', 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
    ],
  },
  {
    provider: 'bedrock',
    page: 'https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html',
    ...claude(bedrockModel),
    // AWS's own frames, and what the invocation took in the last event.
    stream: () => ({
      bytes: Buffer.concat(
        framesOf(
          claudeStream(bedrockModel).replace(
            '"type":"message_stop"',
            '"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":60,"outputTokenCount":30,"invocationLatency":1200,"firstByteLatency":700}',
          ),
        ),
      ),
      type: 'application/vnd.amazon.eventstream',
    }),
    errors: [
      awsError(400, 'model', 'ValidationException', 'The provided model identifier is invalid.'),
      awsError(
        400,
        'model',
        'ValidationException',
        'Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
      ),
      awsError(400, 'context', 'ValidationException', 'Input is too long for requested model.'),
      awsError(400, 'request', 'ValidationException', 'max_tokens: Field required'),
      awsError(
        403,
        'credential',
        'UnrecognizedClientException',
        'The security token included in the request is invalid.',
      ),
      awsError(
        403,
        'permission',
        'AccessDeniedException',
        "You don't have access to the model with the specified model ID.",
      ),
      awsError(
        404,
        'model',
        'ResourceNotFoundException',
        'Could not resolve the foundation model from the provided model identifier.',
      ),
      awsError(408, 'timeout', 'ModelTimeoutException', 'The request took too long to process.'),
      awsError(
        424,
        'server',
        'ModelErrorException',
        'The request failed due to an error while processing the model.',
      ),
      awsError(
        429,
        'rate-limit',
        'ThrottlingException',
        'Too many requests, please wait before trying again.',
      ),
      awsError(
        429,
        'quota',
        'ThrottlingException',
        'Too many tokens per day, please wait before trying again.',
      ),
      awsError(429, 'overloaded', 'ModelNotReadyException', 'The model is not ready for inference.'),
      awsError(500, 'server', 'InternalServerException', 'An internal server error occurred.'),
      awsError(
        503,
        'overloaded',
        'ServiceUnavailableException',
        'Bedrock is unable to process your request.',
      ),
    ],
  },
  {
    provider: 'vertex',
    page: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/api-errors',
    path: '/v1/projects/a-project/locations/global',
    ...gemini('gemini-2.5-pro'),
    errors: [
      googleError(400, 'request', 'INVALID_ARGUMENT', 'Request contains an invalid argument.'),
      googleError(401, 'credential', 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
      googleError(
        403,
        'permission',
        'PERMISSION_DENIED',
        "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/x' (or it may not exist).",
      ),
      googleError(
        404,
        'model',
        'NOT_FOUND',
        'Publisher Model `projects/x/locations/global/publishers/google/models/y` was not found or your project does not have access to it.',
      ),
      googleError(429, 'rate-limit', 'RESOURCE_EXHAUSTED', 'Resource exhausted. Please try again later.'),
      googleError(499, 'busy', 'CANCELLED', 'The operation was cancelled.'),
      googleError(500, 'server', 'INTERNAL', 'Internal error encountered.'),
      googleError(503, 'overloaded', 'UNAVAILABLE', 'The service is currently unavailable.'),
      googleError(504, 'timeout', 'DEADLINE_EXCEEDED', 'Deadline exceeded.'),
    ],
  },
  {
    provider: 'vertex-anthropic',
    page: 'https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai',
    path: '/v1/projects/a-project/locations/global',
    ...claude('claude-sonnet-4-5@20250929'),
    errors: [
      claudeError(400, 'request', 'invalid_request_error', 'max_tokens: Field required'),
      googleError(401, 'credential', 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
      googleError(
        404,
        'model',
        'NOT_FOUND',
        'Publisher Model `projects/x/locations/global/publishers/anthropic/models/y` was not found.',
      ),
      googleError(
        429,
        'rate-limit',
        'RESOURCE_EXHAUSTED',
        'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model with base model: anthropic-claude-sonnet-4-5.',
      ),
      claudeError(529, 'overloaded', 'overloaded_error', 'Overloaded'),
    ],
  },
];
