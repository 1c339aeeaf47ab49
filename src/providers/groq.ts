import type { Provider } from './provider.ts';

/** https://console.groq.com/docs/openai */
export const groq: Provider = {
  id: 'groq',
  name: 'Groq',
  category: 'api-key',
  website: 'https://console.groq.com',
  documentation: 'https://console.groq.com/docs/openai',
  baseUrl: 'https://api.groq.com/openai',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-speech': '/v1/audio/speech',
    'openai-transcriptions': '/v1/audio/transcriptions',
    'openai-translations': '/v1/audio/translations',
  },
  dialect: {
    serviceTier: true,
    maxTokensField: 'max_completion_tokens',
    reasoningField: 'reasoning',
    strictMessages: true,
    schema: 'groq',
  },
  // https://console.groq.com/docs/flex-processing: the price of the usual tier.
  tiers: { flex: [{ factor: 1, source: 'console.groq.com 2026-11-23' }] },
  limitsPerModel: true,
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['GROQ_API_KEY'],
  freeTier: 'https://console.groq.com/docs/rate-limits',
  modelsDev: 'groq',
  resells: true,
  prices: 'groq',
  unpriced: 'unknown',
  suggestedModel: 'openai/gpt-oss-120b',
};
