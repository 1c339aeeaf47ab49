import type { Provider } from './provider.ts';

/** https://developers.openai.com/api/reference/overview */
export const openai: Provider = {
  id: 'openai',
  name: 'OpenAI',
  category: 'api-key',
  website: 'https://platform.openai.com',
  documentation: 'https://developers.openai.com/api/reference/overview',
  baseUrl: 'https://api.openai.com',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'openai-images': '/v1/images/generations',
    'openai-image-edits': '/v1/images/edits',
    'openai-speech': '/v1/audio/speech',
    'openai-transcriptions': '/v1/audio/transcriptions',
    'openai-translations': '/v1/audio/translations',
    'openai-moderations': '/v1/moderations',
  },
  // Reasoning comes back between the turns of a tool loop in this format only.
  preferred: 'openai-responses',
  dialect: {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'developer',
    customTools: true,
    vendorFields: true,
    textParts: true,
    strictMessages: true,
    schema: 'openai',
  },
  counts: ['openai-responses'],
  compacts: ['endpoint', 'item'],
  keepsResponses: true,
  // https://platform.openai.com/docs/guides/error-codes: no rate limit, for it ends when the owner pays.
  faults: [
    {
      statuses: [429, 403],
      pattern: /insufficient_quota|billing_hard_limit_reached|billing_not_active/,
      kind: 'billing',
    },
    { statuses: [401, 403], pattern: /account_deactivated|unsupported_country/, kind: 'credential' },
  ],
  tiers: {
    // "Priced at Batch API rates", which are half of the usual ones: https://developers.openai.com/api/docs/guides/flex-processing
    flex: [{ factor: 0.5, source: 'developers.openai.com 2026-11-23' }],
    batch: [{ factor: 0.5, source: 'developers.openai.com 2026-11-23' }],
    // https://openai.com/api-priority-processing/, where the data set has no price of its own.
    priority: [
      { factor: 2, models: /^gpt-5(\.[12])?(-codex)?(-\d{4}-\d\d-\d\d)?$/, source: 'openai.com 2026-11-23' },
      { factor: 1.8, models: /^gpt-5-mini(-\d{4}-\d\d-\d\d)?$/, source: 'openai.com 2026-11-23' },
      { factor: 1.75, models: /^gpt-4\.1(-\d{4}-\d\d-\d\d)?$/, source: 'openai.com 2026-11-23' },
    ],
  },
  limitsPerModel: true,
  modelsPath: '/v1/models',
  forwardHeaders: 'all',
  keyVariables: ['OPENAI_API_KEY'],
  modelsDev: 'openai',
  prices: 'openai',
  unpriced: 'unknown',
  suggestedModel: 'gpt-6-luna',
};
