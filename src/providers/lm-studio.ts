import type { Provider } from './provider.ts';

/** https://lmstudio.ai/docs/developer/openai-compat and https://lmstudio.ai/docs/developer/anthropic-compat */
export const lmStudio: Provider = {
  id: 'lm-studio',
  name: 'LM Studio',
  category: 'local',
  website: 'https://lmstudio.ai',
  documentation: 'https://lmstudio.ai/docs/developer/openai-compat',
  baseUrl: 'http://127.0.0.1:1234',
  auth: { kind: 'bearer', optional: true },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'anthropic-messages': '/v1/messages',
  },
  // https://lmstudio.ai/blog/lmstudio-v0.3.29
  keepsResponses: true,
  dialect: { reasoningField: 'reasoning_content' },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['LM_API_TOKEN'],
  localPort: 1234,
  modelsDev: 'lmstudio',
  prices: null,
  unpriced: 'free',
  suggestedModel: null,
};
