import type { Provider } from './provider.ts';

/** https://docs.mistral.ai/api */
export const mistral: Provider = {
  id: 'mistral',
  name: 'Mistral AI',
  category: 'api-key',
  website: 'https://console.mistral.ai',
  documentation: 'https://docs.mistral.ai/api',
  baseUrl: 'https://api.mistral.ai',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-embeddings': '/v1/embeddings',
    'openai-transcriptions': '/v1/audio/transcriptions',
    'openai-moderations': '/v1/moderations',
  },
  dialect: {
    reasoningEffort: false,
    strictMessages: true,
    schema: 'mistral',
    // It reports usage by default, and refuses unknown fields.
    fieldNames: { seed: 'random_seed', user: null, stream_options: null },
    callIds: 'short',
    textParts: true,
    prefill: { message: { prefix: true }, repeated: true },
  },
  limitsPerModel: true,
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['MISTRAL_API_KEY'],
  freeTier: 'https://docs.mistral.ai/deployment/laplateforme/tier/',
  modelsDev: 'mistral',
  prices: 'mistral',
  unpriced: 'unknown',
  suggestedModel: 'mistral-medium-latest',
};
