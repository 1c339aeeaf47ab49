import type { Provider } from './provider.ts';

/**
 * https://docs.z.ai/guides/develop/openai/python and https://docs.z.ai/devpack/tool/claude
 * No list of models is documented. A Coding Plan key needs base URL https://api.z.ai/api/coding/paas/v4 for chat.
 */
export const zai: Provider = {
  id: 'zai',
  name: 'Z.ai (GLM)',
  category: 'api-key',
  website: 'https://z.ai',
  documentation: 'https://docs.z.ai/guides/develop/openai/python',
  baseUrl: 'https://api.z.ai/api',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/paas/v4/chat/completions',
    'anthropic-messages': '/anthropic/v1/messages',
  },
  dialect: { reasoningField: 'reasoning_content', reasoningEffort: false },
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: ['ZAI_API_KEY', 'Z_AI_API_KEY'],
  freeTier: 'https://docs.z.ai/guides/overview/pricing',
  modelsDev: 'zai',
  // GLM Flash: https://docs.z.ai/guides/overview/pricing
  zeroIsFree: true,
  prices: 'zai',
  unpriced: 'unknown',
  suggestedModel: 'glm-5.3',
};
