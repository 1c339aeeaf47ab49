import type { Provider } from './provider.ts';

/** Any server that speaks Ollama’s own API and none of OpenAI’s. */
export const ollamaCompatible: Provider = {
  id: 'ollama-compatible',
  name: 'Ollama-compatible server',
  category: 'generic',
  website: 'https://docs.ollama.com/api/chat',
  documentation: 'https://docs.ollama.com/api/chat',
  baseUrl: null,
  auth: { kind: 'bearer', optional: true },
  formats: { ollama: '/api/chat' },
  modelsPath: '/api/tags',
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
