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
  dialect: { reasoningField: 'reasoning' },
  modelsPath: '/v1/models/user',
  forwardHeaders: 'standard',
  keyVariables: ['OPENROUTER_API_KEY'],
  prices: 'openrouter',
  unpriced: 'unknown',
  suggestedModel: 'anthropic/claude-sonnet-5',
};
