import type { Provider } from './provider.ts';

/** https://platform.kimi.ai/docs/api/overview; the host for China is https://api.moonshot.cn. */
export const moonshot: Provider = {
  id: 'moonshot',
  name: 'Moonshot AI (Kimi)',
  category: 'api-key',
  website: 'https://platform.kimi.ai',
  documentation: 'https://platform.kimi.ai/docs/api/overview',
  baseUrl: 'https://api.moonshot.ai',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'anthropic-messages': '/anthropic/v1/messages',
  },
  // https://platform.kimi.ai/docs/api/partial
  dialect: {
    reasoningField: 'reasoning_content',
    // "reasoning_content is missing in assistant tool call message": a space is the least that it takes.
    noReasoning: ' ',
    schema: 'moonshot',
    prefill: { message: { partial: true } },
  },
  modelsPath: '/v1/models',
  /** https://platform.moonshot.ai/docs/api/balance */
  balance: { path: '/v1/users/me/balance', remaining: '/data/available_balance', currency: 'USD' },
  forwardHeaders: 'standard',
  keyVariables: ['MOONSHOT_API_KEY'],
  modelsDev: 'moonshotai',
  prices: 'moonshotai',
  unpriced: 'unknown',
  suggestedModel: 'kimi-k3',
};
