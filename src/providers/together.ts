import type { Provider } from './provider.ts';

/** https://docs.together.ai/docs/inference/openai-compatibility */
export const together: Provider = {
  id: 'together',
  name: 'Together AI',
  category: 'api-key',
  website: 'https://api.together.ai',
  documentation: 'https://docs.together.ai/docs/inference/openai-compatibility',
  baseUrl: 'https://api.together.ai',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'openai-images': '/v1/images/generations',
    'openai-speech': '/v1/audio/speech',
    'openai-transcriptions': '/v1/audio/transcriptions',
    'openai-translations': '/v1/audio/translations',
    rerank: '/v1/rerank',
  },
  limitsPerModel: true,
  dialect: { reasoningField: 'reasoning_content' },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
  modelsDev: 'togetherai',
  resells: true,
  prices: 'together',
  unpriced: 'unknown',
  suggestedModel: 'openai/gpt-oss-20b',
};
