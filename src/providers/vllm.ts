import type { Provider } from './provider.ts';

/** https://docs.vllm.ai/en/latest/serving/online_serving/ */
export const vllm: Provider = {
  id: 'vllm',
  name: 'vLLM',
  category: 'local',
  website: 'https://docs.vllm.ai',
  documentation: 'https://docs.vllm.ai/en/latest/serving/online_serving/',
  baseUrl: 'http://127.0.0.1:8000',
  auth: { kind: 'bearer', optional: true },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'anthropic-messages': '/v1/messages',
    'openai-transcriptions': '/v1/audio/transcriptions',
    'openai-translations': '/v1/audio/translations',
    rerank: '/v1/rerank',
  },
  counts: ['anthropic-messages'],
  // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
  dialect: {
    // https://docs.vllm.ai/en/stable/features/reasoning_outputs/: `reasoning_content` is its former name.
    reasoningField: 'reasoning',
    maxStops: Number.POSITIVE_INFINITY,
    prefill: { request: { continue_final_message: true, add_generation_prompt: false } },
  },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['VLLM_API_KEY'],
  localPort: 8000,
  prices: null,
  unpriced: 'free',
  suggestedModel: null,
};
