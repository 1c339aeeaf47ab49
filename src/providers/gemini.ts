import type { Provider } from './provider.ts';

/** https://ai.google.dev/api/generate-content, and its OpenAI-compatible surface: https://ai.google.dev/gemini-api/docs/openai */
export const gemini: Provider = {
  id: 'gemini',
  name: 'Google Gemini',
  category: 'api-key',
  website: 'https://aistudio.google.com',
  documentation: 'https://ai.google.dev/api/generate-content',
  baseUrl: 'https://generativelanguage.googleapis.com',
  auth: { kind: 'bearer' },
  formatAuth: { gemini: { kind: 'header', name: 'x-goog-api-key' } },
  formats: {
    gemini: '/v1beta/models',
    'openai-chat': '/v1beta/openai/chat/completions',
    'openai-embeddings': '/v1beta/openai/embeddings',
  },
  dialect: { schema: 'gemini-chat', vendorFields: true, googleSignatures: true, strictMessages: true },
  preferred: 'gemini',
  counts: ['gemini'],
  // https://ai.google.dev/gemini-api/docs/rate-limits: each limit of a day has a name with "PerDay" in the details.
  faults: [{ statuses: [429], pattern: /PerDay/, kind: 'quota' }],
  // https://ai.google.dev/gemini-api/docs/optimization; of priority it says only a range, 75 to 100 % more.
  tiers: {
    flex: [{ factor: 0.5, source: 'ai.google.dev 2026-11-23' }],
    batch: [{ factor: 0.5, source: 'ai.google.dev 2026-11-23' }],
  },
  limitsPerModel: true,
  modelsPath: '/v1beta/openai/models',
  forwardHeaders: 'standard',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  freeTier: 'https://ai.google.dev/gemini-api/docs/pricing',
  modelsDev: 'google',
  prices: 'google',
  unpriced: 'unknown',
  suggestedModel: 'gemini-3.8-flash',
};
