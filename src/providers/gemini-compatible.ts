import type { Provider } from './provider.ts';

/** Any server that speaks the Gemini API. */
export const geminiCompatible: Provider = {
  id: 'gemini-compatible',
  name: 'Gemini-compatible server',
  category: 'generic',
  website: 'https://ai.google.dev/api/generate-content',
  documentation: 'https://ai.google.dev/api',
  baseUrl: null,
  auth: { kind: 'header', name: 'x-goog-api-key', optional: true },
  formats: { gemini: '/v1beta/models' },
  counts: ['gemini'],
  modelsPath: '/v1beta/models',
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
