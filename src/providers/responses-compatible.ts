import type { Provider } from './provider.ts';

/** Any server that speaks the Responses API and no other of OpenAI’s. */
export const responsesCompatible: Provider = {
  id: 'responses-compatible',
  name: 'Responses-compatible server',
  category: 'generic',
  website: 'https://www.openresponses.org',
  documentation: 'https://platform.openai.com/docs/api-reference/responses',
  baseUrl: null,
  auth: { kind: 'bearer', optional: true },
  formats: { 'openai-responses': '/v1/responses' },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
