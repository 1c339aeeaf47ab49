import type { Provider } from './provider.ts';

/** https://platform.minimax.io/docs/api-reference/text-anthropic-api and …/models; China: https://api.minimaxi.com. */
export const minimax: Provider = {
  id: 'minimax',
  name: 'MiniMax',
  category: 'api-key',
  website: 'https://platform.minimax.io',
  documentation: 'https://platform.minimax.io/docs/api-reference/text-anthropic-api',
  baseUrl: 'https://api.minimax.io',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'anthropic-messages': '/anthropic/v1/messages',
  },
  dialect: { reasoningField: 'reasoning_content', reasoningEffort: false },
  // https://platform.minimax.io/docs/api-reference/errorcode: what a plan allows for five hours.
  faults: [{ statuses: [429], pattern: /\b2056\b/, kind: 'quota' }],
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['MINIMAX_API_KEY'],
  modelsDev: 'minimax',
  prices: 'minimax',
  unpriced: 'unknown',
  suggestedModel: 'MiniMax-M3',
};
