import type { FaultKind } from '../../../src/providers/fault.ts';

/** Where a provider's chat answers and streams have what others have elsewhere. */
export interface Quirks {
  provider: string;
  model: string;
  /** What documents them. */
  page: string;
  /** The field with the reasoning; `parts`: content is a list with thinking in it; null: it shows none. */
  reasoning: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'parts' | null;
  /** Where the last chunk of a stream counts: beside no choice, beside the last one, in it, or in Groq's own member. */
  usageAt: 'empty' | 'last' | 'choice' | 'x_groq';
  /** 100 tokens in, 40 of them cached where it tells, 30 out, 10 of them reasoning where it tells. */
  usage: object;
  /** What the ledger is to have of that. */
  buckets: { input: number; cache_read: number; output: number; reasoning: number };
  errors: readonly DocumentedError[];
}

export interface DocumentedError {
  status: number;
  body: object | string;
  headers?: Readonly<Record<string, string>>;
  kind: FaultKind;
}

const totals = { prompt_tokens: 100, completion_tokens: 30, total_tokens: 130 };
const plain = { input: 100, cache_read: 0, output: 30, reasoning: 0 };
const cached = { prompt_tokens_details: { cached_tokens: 40 } };
const reasoned = { completion_tokens_details: { reasoning_tokens: 10 } };
const withCache = { input: 60, cache_read: 40, output: 30, reasoning: 0 };
const withBoth = { input: 60, cache_read: 40, output: 20, reasoning: 10 };

const failure = (
  status: number,
  kind: FaultKind,
  body: DocumentedError['body'],
  headers: Readonly<Record<string, string>> = {},
): DocumentedError => ({ status, kind, body, headers });

/** An error as OpenAI writes it. */
const error = (status: number, kind: FaultKind, type: string, message: string, code: unknown = null) =>
  failure(status, kind, { error: { message, type, param: null, code } });

export const providerQuirks: readonly Quirks[] = [
  {
    provider: 'openai',
    model: 'gpt-4.1',
    page: 'https://platform.openai.com/docs/guides/error-codes',
    reasoning: null,
    usageAt: 'empty',
    usage: { ...totals, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      error(
        401,
        'credential',
        'invalid_request_error',
        'Incorrect API key provided: sk-x.',
        'invalid_api_key',
      ),
      error(
        429,
        'billing',
        'insufficient_quota',
        'You exceeded your current quota, please check your plan and billing details.',
        'insufficient_quota',
      ),
      error(
        429,
        'rate-limit',
        'tokens',
        'Rate limit reached for gpt-4.1 in organization org-x on tokens per min (TPM): Limit 30000.',
        'rate_limit_exceeded',
      ),
      error(
        404,
        'model',
        'invalid_request_error',
        'The model `gpt-x` does not exist or you do not have access to it.',
        'model_not_found',
      ),
    ],
  },
  {
    provider: 'openrouter',
    model: 'deepseek/deepseek-r1',
    page: 'https://openrouter.ai/docs/api-reference/errors',
    reasoning: 'reasoning_details',
    usageAt: 'empty',
    usage: { ...totals, ...cached, ...reasoned, cost: 0.01 },
    buckets: withBoth,
    errors: [
      failure(402, 'billing', {
        error: { code: 402, message: 'Insufficient credits. Add more using https://openrouter.ai/credits' },
      }),
      failure(403, 'request', {
        error: { code: 403, message: 'Input was flagged by moderation', metadata: { reasons: ['violence'] } },
      }),
      failure(429, 'quota', { error: { code: 429, message: 'Rate limit exceeded: free-models-per-day' } }),
    ],
  },
  {
    provider: 'groq',
    model: 'openai/gpt-oss-120b',
    page: 'https://console.groq.com/docs/errors',
    reasoning: 'reasoning',
    usageAt: 'x_groq',
    usage: { ...totals, ...cached, ...reasoned, queue_time: 0.1, total_time: 0.5 },
    buckets: withBoth,
    errors: [
      error(401, 'credential', 'invalid_request_error', 'Invalid API Key', 'invalid_api_key'),
      error(
        429,
        'rate-limit',
        'tokens',
        'Rate limit reached for model `x` in organization `org` on tokens per minute (TPM): Limit 8000, Used 7000. Please try again in 7.6s.',
        'rate_limit_exceeded',
      ),
      failure(503, 'overloaded', {
        error: {
          message: 'x is currently over capacity. Please try again and back off exponentially.',
          type: 'internal_server_error',
        },
      }),
    ],
  },
  {
    provider: 'deepseek',
    model: 'deepseek-v4-pro',
    page: 'https://api-docs.deepseek.com/quick_start/error_codes',
    reasoning: 'reasoning_content',
    usageAt: 'last',
    usage: { ...totals, prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60, ...reasoned },
    buckets: withBoth,
    errors: [
      error(
        401,
        'credential',
        'authentication_error',
        'Authentication Fails, Your api key: ****x is invalid',
        'invalid_request_error',
      ),
      error(402, 'billing', 'unknown_error', 'Insufficient Balance', 'invalid_request_error'),
      error(
        503,
        'overloaded',
        'service_unavailable_error',
        'Service is too busy. We advise users to temporarily switch to alternative LLM API service providers.',
      ),
    ],
  },
  {
    provider: 'mistral',
    model: 'magistral-medium-latest',
    page: 'https://docs.mistral.ai/capabilities/reasoning',
    reasoning: 'parts',
    usageAt: 'last',
    usage: totals,
    buckets: plain,
    errors: [
      failure(401, 'credential', { message: 'Unauthorized', request_id: 'x' }),
      failure(422, 'request', {
        object: 'error',
        message: { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] },
        type: 'invalid_request_message_body',
        code: null,
      }),
      failure(429, 'rate-limit', {
        object: 'error',
        message: 'Requests rate limit exceeded',
        type: 'rate_limited',
        code: '1300',
      }),
      failure(400, 'model', {
        object: 'error',
        message: 'Invalid model: x',
        type: 'invalid_model',
        code: '1500',
      }),
    ],
  },
  {
    provider: 'xai',
    model: 'grok-4.3',
    page: 'https://docs.x.ai/docs/key-information/debugging',
    reasoning: 'reasoning_content',
    usageAt: 'last',
    usage: { ...totals, completion_tokens: 20, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      failure(400, 'credential', {
        code: 'Client specified an invalid argument',
        error: 'Incorrect API key provided: x. You can obtain an API key from https://console.x.ai.',
      }),
      failure(429, 'rate-limit', {
        code: 'Some resource has been exhausted',
        error: 'Too many requests for team x and model grok-4.3.',
      }),
    ],
  },
  {
    provider: 'together',
    model: 'deepseek-ai/DeepSeek-V4-Pro',
    page: 'https://docs.together.ai/docs/error-codes',
    reasoning: 'reasoning',
    usageAt: 'last',
    usage: { ...totals, cached_tokens: 40 },
    buckets: withCache,
    errors: [
      error(401, 'credential', 'invalid_request_error', 'Invalid API key provided', 'invalid_api_key'),
      error(402, 'billing', 'credit_limit', 'Credit limit exceeded, please add credits to your account'),
      error(
        429,
        'rate-limit',
        'rate_limit',
        'You have reached the rate limit specific to this model',
        'rate_limit',
      ),
    ],
  },
  {
    provider: 'fireworks',
    model: 'accounts/fireworks/models/glm-5p1',
    page: 'https://docs.fireworks.ai/guides/inference-error-codes',
    reasoning: 'reasoning_content',
    usageAt: 'last',
    usage: { ...totals, ...cached },
    buckets: withCache,
    errors: [
      failure(401, 'credential', {
        error: {
          object: 'error',
          type: 'invalid_request_error',
          code: 'unauthorized',
          message: 'The API key you provided is invalid.',
        },
      }),
      failure(404, 'model', {
        error: {
          object: 'error',
          type: 'invalid_request_error',
          code: 'NOT_FOUND',
          message: 'Model not found, inaccessible, and/or not deployed',
        },
      }),
      failure(412, 'billing', {
        error: {
          object: 'error',
          code: 'PRECONDITION_FAILED',
          message:
            'Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
        },
      }),
    ],
  },
  {
    provider: 'cerebras',
    model: 'gpt-oss-120b',
    page: 'https://inference-docs.cerebras.ai/support/error',
    reasoning: 'reasoning',
    usageAt: 'last',
    usage: { ...totals, ...cached },
    buckets: withCache,
    errors: [
      failure(401, 'credential', {
        message: 'Wrong API Key',
        type: 'invalid_request_error',
        param: 'api_key',
        code: 'wrong_api_key',
      }),
      failure(429, 'rate-limit', {
        message: 'Requests per minute limit exceeded - too many requests sent.',
        type: 'too_many_requests_error',
        param: 'quota',
        code: 'request_quota_exceeded',
      }),
      failure(404, 'model', {
        message: 'Model x does not exist or you do not have access to it.',
        type: 'not_found_error',
        param: 'model',
        code: 'model_not_found',
      }),
    ],
  },
  {
    provider: 'nvidia',
    model: 'nvidia/nemotron-3-ultra-550b-a55b',
    page: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: totals,
    buckets: plain,
    errors: [
      failure(401, 'credential', { status: 401, title: 'Unauthorized', detail: 'Authentication failed' }),
      failure(402, 'billing', {
        status: 402,
        title: 'Payment Required',
        detail: "Account 'x': Cloud credits expired - Please contact NVIDIA representatives",
      }),
      failure(404, 'model', {
        status: 404,
        title: 'Not Found',
        detail: "Function 'x': Not found for account 'y'",
      }),
    ],
  },
  {
    provider: 'moonshot',
    model: 'kimi-k2.6',
    page: 'https://platform.moonshot.ai/docs/api/chat#error-description',
    reasoning: 'reasoning_content',
    usageAt: 'choice',
    usage: { ...totals, cached_tokens: 40 },
    buckets: withCache,
    errors: [
      error(401, 'credential', 'invalid_authentication_error', 'Invalid Authentication'),
      error(
        429,
        'billing',
        'exceeded_current_quota_error',
        'Your account org-x <ak-y> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
      ),
      error(
        429,
        'overloaded',
        'engine_overloaded_error',
        'The engine is currently overloaded, please try again later',
      ),
      error(
        429,
        'rate-limit',
        'rate_limit_reached_error',
        'Your account reached max organization concurrency: 1, please try again after 1 seconds',
      ),
    ],
  },
  {
    provider: 'zai',
    model: 'glm-5.1',
    page: 'https://docs.z.ai/api-reference/api-code',
    reasoning: 'reasoning_content',
    usageAt: 'last',
    usage: { ...totals, ...cached },
    buckets: withCache,
    errors: [
      failure(401, 'credential', {
        error: {
          code: '1002',
          message:
            'Authorization Token is invalid, please confirm the correctness of the Authorization Token',
        },
      }),
      failure(429, 'billing', {
        error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' },
      }),
      failure(429, 'rate-limit', {
        error: {
          code: '1302',
          message:
            'High concurrency usage of this API, please reduce concurrency or contact customer service to increase limits',
        },
      }),
      failure(429, 'quota', {
        error: {
          code: '1308',
          message: 'Usage limit reached for 5 hour. Your limit will reset at 2026-11-24 00:00:00',
        },
      }),
    ],
  },
  {
    provider: 'qwen',
    model: 'qwen3-32b',
    page: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: { ...totals, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      failure(401, 'credential', {
        error: {
          message: 'Incorrect API key provided.',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
        request_id: 'x',
      }),
      failure(400, 'billing', {
        error: {
          message: 'Access denied, please make sure your account is in good standing.',
          type: 'Arrearage',
          param: null,
          code: 'Arrearage',
        },
      }),
      failure(429, 'billing', {
        error: {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
      }),
      failure(429, 'rate-limit', {
        error: {
          message: 'Requests rate limit exceeded, please try again later.',
          type: 'limit_requests',
          code: 'limit_requests',
        },
      }),
    ],
  },
  {
    provider: 'minimax',
    model: 'MiniMax-M2.7',
    page: 'https://platform.minimax.io/docs/api-reference/errorcode',
    reasoning: 'reasoning_content',
    usageAt: 'last',
    usage: { ...totals, ...reasoned },
    buckets: { input: 100, cache_read: 0, output: 20, reasoning: 10 },
    // What it reports with HTTP 200 (`base_resp`) has a test of its own, errors-beside-answers.test.ts.
    errors: [
      failure(401, 'credential', {
        type: 'error',
        error: { type: 'authorized_error', message: 'invalid api key (2049)', http_code: '401' },
      }),
      failure(429, 'quota', {
        type: 'error',
        error: { type: 'rate_limit_error', message: 'usage limit exceeded (2056)', http_code: '429' },
      }),
    ],
  },
  {
    provider: 'azure-openai',
    model: 'gpt-4.1',
    page: 'https://learn.microsoft.com/azure/ai-foundry/openai/how-to/quota',
    reasoning: null,
    usageAt: 'empty',
    usage: { ...totals, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      failure(401, 'credential', {
        error: {
          code: '401',
          message: 'Access denied due to invalid subscription key or wrong API endpoint.',
        },
      }),
      failure(404, 'model', {
        error: {
          code: 'DeploymentNotFound',
          message: 'The API deployment for this resource does not exist.',
        },
      }),
      failure(
        429,
        'rate-limit',
        {
          error: {
            code: '429',
            message:
              'Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 20 seconds.',
          },
        },
        { 'retry-after': '20' },
      ),
    ],
  },
  {
    provider: 'ollama',
    model: 'gpt-oss:20b',
    page: 'https://docs.ollama.com/api/errors',
    reasoning: 'reasoning',
    usageAt: 'empty',
    usage: totals,
    buckets: plain,
    errors: [
      failure(404, 'model', {
        error: {
          message: 'model "x" not found, try pulling it first',
          type: 'not_found_error',
          param: null,
          code: null,
        },
      }),
      failure(503, 'overloaded', {
        error: 'server busy, please try again.  maximum pending requests exceeded',
      }),
    ],
  },
  {
    provider: 'lm-studio',
    model: 'qwen/qwen3-30b',
    page: 'https://lmstudio.ai/docs/developer/openai-compat',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: { ...totals, ...reasoned },
    buckets: { input: 100, cache_read: 0, output: 20, reasoning: 10 },
    errors: [
      failure(404, 'model', {
        error: { message: 'Model "x" not found.', type: 'invalid_request_error', code: 'model_not_found' },
      }),
    ],
  },
  {
    provider: 'llama-cpp',
    model: 'any',
    page: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: { ...totals, ...cached },
    buckets: withCache,
    errors: [
      failure(503, 'overloaded', {
        error: { code: 503, message: 'Loading model', type: 'unavailable_error' },
      }),
      failure(401, 'credential', {
        error: { code: 401, message: 'Invalid API Key', type: 'authentication_error' },
      }),
      failure(400, 'context', {
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 9000,
          n_ctx: 4096,
        },
      }),
    ],
  },
  {
    provider: 'vllm',
    model: 'any',
    page: 'https://docs.vllm.ai/en/latest/features/reasoning_outputs/',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: totals,
    buckets: plain,
    errors: [
      failure(404, 'model', {
        error: { message: 'The model `x` does not exist.', type: 'NotFoundError', param: null, code: 404 },
      }),
      failure(400, 'context', {
        error: {
          message:
            "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens.",
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
      }),
    ],
  },
  {
    provider: 'cohere',
    model: 'command-a-03-2025',
    page: 'https://docs.cohere.com/reference/errors',
    reasoning: null,
    usageAt: 'last',
    usage: totals,
    buckets: plain,
    errors: [
      failure(401, 'credential', { id: 'x', message: 'invalid api token' }),
      failure(404, 'model', {
        id: 'x',
        message:
          "model 'y' not found, make sure the correct model ID was used and that you have access to the model.",
      }),
      failure(429, 'rate-limit', {
        id: 'x',
        message:
          'You are using a Trial key, which is limited to 1000 API calls / month. You can continue to use the Trial key for free or upgrade to a Production key.',
      }),
    ],
  },
  {
    provider: 'perplexity',
    model: 'sonar-pro',
    page: 'https://docs.perplexity.ai/docs/resources/help-center',
    reasoning: null,
    usageAt: 'last',
    usage: { ...totals, search_context_size: 'low', cost: { total_cost: 0.01 } },
    buckets: plain,
    errors: [
      failure(
        401,
        'credential',
        '<html><head><title>401 Authorization Required</title></head><body><h1>401 Authorization Required</h1></body></html>',
        { 'content-type': 'text/html' },
      ),
      failure(429, 'rate-limit', {
        error: { message: 'Request rate limit exceeded', type: 'rate_limit_exceeded', code: 429 },
      }),
    ],
  },
  {
    provider: 'deepinfra',
    model: 'deepseek-ai/DeepSeek-V3.2',
    page: 'https://docs.deepinfra.com',
    reasoning: 'reasoning_content',
    usageAt: 'last',
    usage: { ...totals, estimated_cost: 0.001, ...cached },
    buckets: withCache,
    errors: [
      failure(401, 'credential', {
        error: { message: 'User token not valid', type: 'authentication_error' },
      }),
      failure(402, 'billing', { detail: { error: 'inference prohibited, please enter a Payment Method' } }),
      failure(404, 'model', { detail: { error: 'Model is not available' } }),
      failure(429, 'overloaded', { error: { message: 'Model busy, retry later: engine_overloaded' } }),
    ],
  },
  {
    provider: 'huggingface',
    model: 'zai-org/GLM-5',
    page: 'https://huggingface.co/docs/inference-providers',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: totals,
    buckets: plain,
    errors: [
      failure(401, 'credential', { error: 'Invalid username or password.' }),
      failure(402, 'billing', {
        error:
          'You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included credits.',
      }),
      failure(400, 'model', {
        error: {
          message: "The requested model 'x' does not exist",
          type: 'invalid_request_error',
          param: 'model',
          code: 'model_not_found',
        },
      }),
    ],
  },
  {
    provider: 'vercel',
    model: 'alibaba/qwen3-max',
    page: 'https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions',
    reasoning: 'reasoning',
    usageAt: 'empty',
    usage: { ...totals, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      error(401, 'credential', 'authentication_error', 'Invalid API key'),
      error(
        402,
        'billing',
        'insufficient_funds',
        'Insufficient funds. Please add credits to your account to continue using AI services.',
      ),
      error(429, 'rate-limit', 'rate_limit_exceeded', 'Rate limit exceeded'),
    ],
  },
  {
    provider: 'github-models',
    model: 'openai/gpt-4.1',
    page: 'https://docs.github.com/rest/models/inference',
    reasoning: null,
    usageAt: 'empty',
    usage: { ...totals, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      failure(401, 'credential', { error: { code: 'unauthorized', message: 'Bad credentials' } }),
      failure(429, 'rate-limit', {
        error: {
          code: 'RateLimitReached',
          message:
            'Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 26 seconds before retrying.',
          details: 'x',
        },
      }),
      failure(400, 'model', {
        error: { code: 'unknown_model', message: 'Unknown model: x', details: 'Unknown model: x' },
      }),
    ],
  },
  {
    provider: 'siliconflow',
    model: 'zai-org/GLM-4.6',
    page: 'https://docs.siliconflow.com/en/faqs/error-code',
    reasoning: 'reasoning_content',
    usageAt: 'last',
    usage: { ...totals, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      failure(401, 'credential', 'Invalid token'),
      failure(403, 'billing', {
        code: 30001,
        message: 'Sorry, your account balance is insufficient',
        data: null,
      }),
      failure(429, 'rate-limit', {
        message:
          'Request was rejected due to rate limiting. If you want more, please contact support. Details: TPM limit reached.',
        data: null,
      }),
      failure(503, 'overloaded', {
        code: 50505,
        message: 'Model service overloaded. Please try again later.',
        data: null,
      }),
    ],
  },
  {
    provider: 'novita-ai',
    model: 'deepseek/deepseek-v3.2',
    page: 'https://novita.ai/docs/api-reference/basic-error-code',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: { ...totals, ...cached, ...reasoned },
    buckets: withBoth,
    errors: [
      failure(401, 'credential', {
        code: 401,
        reason: 'INVALID_API_KEY',
        message: 'the api key is invalid',
        metadata: {},
      }),
      failure(403, 'billing', {
        code: 403,
        reason: 'NOT_ENOUGH_BALANCE',
        message: 'not enough balance',
        metadata: {},
      }),
      failure(404, 'model', {
        code: 404,
        reason: 'MODEL_NOT_FOUND',
        message: 'model not found',
        metadata: {},
      }),
      failure(429, 'rate-limit', {
        code: 429,
        reason: 'RATE_LIMIT_EXCEEDED',
        message: 'rate limit exceeded',
        metadata: {},
      }),
    ],
  },
  {
    provider: 'nebius',
    model: 'zai-org/GLM-5',
    page: 'https://docs.tokenfactory.nebius.com',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: totals,
    buckets: plain,
    errors: [
      failure(401, 'credential', { detail: 'Couldn’t authenticate: invalid API key' }),
      failure(404, 'model', { detail: 'The model `x` does not exist.' }),
      failure(429, 'rate-limit', { detail: 'Rate limit exceeded' }),
    ],
  },
  {
    provider: 'venice',
    model: 'zai-org-glm-5',
    page: 'https://docs.venice.ai/api-reference/error-codes',
    reasoning: 'reasoning_content',
    usageAt: 'empty',
    usage: { ...totals, ...cached },
    buckets: withCache,
    errors: [
      failure(401, 'credential', { error: 'Authentication failed' }),
      failure(402, 'billing', { error: 'Insufficient USD or Diem balance to complete request' }),
      failure(404, 'model', { error: 'Specified model not found' }),
      failure(503, 'overloaded', { error: 'The model is at capacity. Please try again later.' }),
    ],
  },
  {
    provider: 'stepfun',
    model: 'step-3.5-flash',
    page: 'https://platform.stepfun.com/docs/zh/api-reference/error',
    reasoning: 'reasoning',
    usageAt: 'last',
    usage: { ...totals, cached_tokens: 40 },
    buckets: withCache,
    errors: [
      error(401, 'credential', 'invalid_api_key', 'Incorrect API key provided'),
      error(
        402,
        'billing',
        'quota_exceeded',
        'You exceeded your current quota, please check your plan and billing details',
      ),
      error(429, 'rate-limit', 'request_limited', 'Request rate limited'),
    ],
  },
];
