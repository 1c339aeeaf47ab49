import type { Provider } from './provider.ts';

/** https://inference-docs.cerebras.ai/api-reference/chat-completions */
export const cerebras: Provider = {
  id: 'cerebras',
  name: 'Cerebras',
  category: 'api-key',
  website: 'https://cloud.cerebras.ai',
  documentation: 'https://inference-docs.cerebras.ai/api-reference/chat-completions',
  baseUrl: 'https://api.cerebras.ai',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-completions': '/v1/completions',
  },
  dialect: {
    maxTokensField: 'max_completion_tokens',
    reasoningField: 'reasoning',
    strictMessages: true,
    schema: 'cerebras',
  },
  limitsPerModel: true,
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['CEREBRAS_API_KEY'],
  freeTier: 'https://inference-docs.cerebras.ai/support/rate-limits',
  modelsDev: 'cerebras',
  resells: true,
  prices: 'cerebras',
  unpriced: 'unknown',
  suggestedModel: 'gpt-oss-120b',
};
