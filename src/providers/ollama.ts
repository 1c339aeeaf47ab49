import type { Provider } from './provider.ts';

/** https://docs.ollama.com/api/chat, https://docs.ollama.com/api/openai-compatibility and https://docs.ollama.com/api/anthropic-compatibility */
export const ollama: Provider = {
  id: 'ollama',
  name: 'Ollama',
  category: 'local',
  website: 'https://ollama.com',
  documentation: 'https://docs.ollama.com/api',
  baseUrl: 'http://127.0.0.1:11434',
  auth: { kind: 'bearer', optional: true },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'anthropic-messages': '/v1/messages',
    ollama: '/api/chat',
  },
  dialect: {
    schema: 'ollama',
    reasoningField: 'reasoning',
    maxStops: Number.POSITIVE_INFINITY,
    prefill: {},
  },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: [],
  localPort: 11434,
  prices: null,
  unpriced: 'free',
  suggestedModel: null,
};
