import type { Provider } from './provider.ts';

/**
 * https://docs.x.ai/developers/rest-api-reference/inference
 * Its Anthropic surface is left out: the reference lists it as fully deprecated.
 */
export const xai: Provider = {
  id: 'xai',
  name: 'xAI',
  category: 'api-key',
  website: 'https://console.x.ai',
  documentation: 'https://docs.x.ai/developers/rest-api-reference/inference',
  baseUrl: 'https://api.x.ai',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-images': '/v1/images/generations',
  },
  dialect: { serviceTier: true, maxTokensField: 'max_completion_tokens', schema: 'xai' },
  // https://docs.x.ai/developers/model-capabilities/text/generate-text: for 30 days
  keepsResponses: true,
  // https://docs.x.ai/docs/key-information/debugging: a key that is not valid comes as 400, one without credits as 403.
  faults: [
    {
      statuses: [400, 403],
      pattern: /incorrect api key|invalid api key|bad[-_ ]credentials/i,
      kind: 'credential',
    },
    {
      statuses: [403, 429],
      pattern: /(?:used all available|run out of|no) credits|spending limit/i,
      kind: 'billing',
    },
    {
      statuses: [403],
      pattern: /api key is (?:blocked|disabled)|team .{1,200} (?:blocked|disabled)/i,
      kind: 'credential',
    },
  ],
  limitsPerModel: true,
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['XAI_API_KEY'],
  modelsDev: 'xai',
  prices: 'x-ai',
  unpriced: 'unknown',
  suggestedModel: 'grok-4.6',
};
