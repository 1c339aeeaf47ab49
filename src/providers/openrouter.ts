import type { Provider } from './provider.ts';

/**
 * https://openrouter.ai/docs/api-reference/overview; all surfaces take the key as a bearer token.
 * `/v1/models` is public, so the list that needs a key (`/v1/models/user`) stands here: it proves the credential.
 */
export const openrouter: Provider = {
  id: 'openrouter',
  name: 'OpenRouter',
  category: 'api-key',
  website: 'https://openrouter.ai',
  documentation: 'https://openrouter.ai/docs/api-reference/overview',
  baseUrl: 'https://openrouter.ai/api',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-embeddings': '/v1/embeddings',
    'anthropic-messages': '/v1/messages',
    'openai-transcriptions': '/v1/audio/transcriptions',
    rerank: '/v1/rerank',
  },
  // Marks: https://openrouter.ai/docs/features/prompt-caching.
  // Begun answers: https://openrouter.ai/docs/api-reference/overview#assistant-prefill
  dialect: {
    serviceTier: true,
    reasoningField: 'reasoning',
    textParts: true,
    cacheFields: true,
    prefill: {},
  },
  // https://openrouter.ai/docs/api-reference/errors: 402 no credits, 403 for input that a moderator flags, 502 and 503 for the model's provider.
  faults: [
    { statuses: [403], pattern: /moderat|flagged/i, kind: 'request' },
    { statuses: [400], pattern: /not a valid model/i, kind: 'model' },
    { statuses: [403], pattern: /key limit exceeded|limit exceeded/i, kind: 'billing' },
    {
      statuses: [502, 503],
      pattern: /no (?:allowed |available )?(?:model )?providers?|model is down/i,
      kind: 'overloaded',
    },
    { statuses: [429], pattern: /free-models-per-day/i, kind: 'quota' },
  ],
  limitsPerModel: true,
  modelsPath: '/v1/models/user',
  /** https://openrouter.ai/docs/api-reference/limits: of the key, where it has a limit. */
  balance: { path: '/v1/key', remaining: '/data/limit_remaining', limit: '/data/limit', currency: 'USD' },
  forwardHeaders: 'standard',
  keyVariables: ['OPENROUTER_API_KEY'],
  freeTier: 'https://openrouter.ai/docs/api-reference/limits',
  modelsDev: 'openrouter',
  resells: true,
  prices: 'openrouter',
  unpriced: 'unknown',
  suggestedModel: 'anthropic/claude-sonnet-5',
};
