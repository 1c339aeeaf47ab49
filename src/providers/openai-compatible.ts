import type { Provider } from './provider.ts';

/**
 * Any server that speaks the OpenAI Chat Completions API. One that also speaks Responses is better added
 * as provider `openai` with its own base URL.
 */
export const openaiCompatible: Provider = {
  id: 'openai-compatible',
  name: 'OpenAI-compatible server',
  category: 'generic',
  website: 'https://github.com/openai/openai-openapi',
  documentation: 'https://platform.openai.com/docs/api-reference/chat',
  baseUrl: null,
  auth: { kind: 'bearer', optional: true },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'openai-images': '/v1/images/generations',
    'openai-image-edits': '/v1/images/edits',
    'openai-speech': '/v1/audio/speech',
    'openai-transcriptions': '/v1/audio/transcriptions',
    'openai-translations': '/v1/audio/translations',
    'openai-moderations': '/v1/moderations',
    rerank: '/v1/rerank',
  },
  // What most of these servers call reasoning; it is left out where it is refused, and so is what they may support of
  // a prompt cache: https://docs.litellm.ai/docs/completion/prompt_caching
  dialect: { reasoningField: 'reasoning_content', cacheFields: true },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
