import type { Provider } from './provider.ts';

/** https://docs.fireworks.ai/nexus/apis-and-sdks and https://docs.fireworks.ai/tools-sdks/anthropic-compatibility */
export const fireworks: Provider = {
  id: 'fireworks',
  name: 'Fireworks AI',
  category: 'api-key',
  website: 'https://app.fireworks.ai',
  documentation: 'https://docs.fireworks.ai/nexus/apis-and-sdks',
  baseUrl: 'https://api.fireworks.ai/inference',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'anthropic-messages': '/v1/messages',
  },
  // https://docs.fireworks.ai/guides/response-api
  keepsResponses: true,
  dialect: { reasoningField: 'reasoning_content' },
  // https://docs.fireworks.ai/guides/inference-error-codes: spending limits and invoices suspend an account.
  faults: [{ statuses: [412], pattern: /suspended|spending limit|failure to pay/i, kind: 'billing' }],
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['FIREWORKS_API_KEY'],
  modelsDev: 'fireworks-ai',
  resells: true,
  prices: 'fireworks',
  unpriced: 'unknown',
  suggestedModel: 'accounts/fireworks/models/glm-5p2',
};
