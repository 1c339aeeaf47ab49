import type { Provider } from './provider.ts';

/** Any server that only continues texts: OpenAI's older completions, for models without a chat template. */
export const completionsCompatible: Provider = {
  id: 'completions-compatible',
  name: 'Completions-compatible server',
  category: 'generic',
  website: 'https://platform.openai.com/docs/api-reference/completions',
  documentation: 'https://platform.openai.com/docs/api-reference/completions',
  baseUrl: null,
  auth: { kind: 'bearer', optional: true },
  formats: { 'openai-completions': '/v1/completions' },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
