import type { Provider } from './provider.ts';

/** `llama-server`: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md */
export const llamaCpp: Provider = {
  id: 'llama-cpp',
  name: 'llama.cpp',
  category: 'local',
  website: 'https://github.com/ggml-org/llama.cpp',
  documentation: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
  baseUrl: 'http://127.0.0.1:8080',
  auth: { kind: 'bearer', optional: true },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'anthropic-messages': '/v1/messages',
    rerank: '/v1/rerank',
  },
  counts: ['anthropic-messages'],
  // A message of the assistant that stands last is gone on with, unless --no-prefill-assistant says otherwise.
  dialect: {
    schema: 'llama-cpp',
    reasoningField: 'reasoning_content',
    maxStops: Number.POSITIVE_INFINITY,
    prefill: {},
  },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: [],
  localPort: 8080,
  prices: null,
  unpriced: 'free',
  suggestedModel: null,
};
