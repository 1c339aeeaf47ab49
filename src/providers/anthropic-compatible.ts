import type { Provider } from './provider.ts';

/** Any server that speaks the Anthropic Messages API. */
export const anthropicCompatible: Provider = {
  id: 'anthropic-compatible',
  name: 'Anthropic-compatible server',
  category: 'generic',
  website: 'https://platform.claude.com/docs/en/api/messages',
  documentation: 'https://platform.claude.com/docs/en/api/messages',
  baseUrl: null,
  auth: { kind: 'header', name: 'x-api-key', optional: true },
  formats: { 'anthropic-messages': '/v1/messages' },
  counts: ['anthropic-messages'],
  modelsPath: '/v1/models',
  headers: { 'anthropic-version': '2023-06-01' },
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
