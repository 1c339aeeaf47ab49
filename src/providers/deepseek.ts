import type { Provider } from './provider.ts';

/**
 * https://api-docs.deepseek.com and https://api-docs.deepseek.com/guides/anthropic_api (`x-api-key`).
 * Text completion (fill-in-the-middle) is a beta: https://api-docs.deepseek.com/guides/fim_completion
 */
export const deepseek: Provider = {
  id: 'deepseek',
  name: 'DeepSeek',
  category: 'api-key',
  website: 'https://platform.deepseek.com',
  documentation: 'https://api-docs.deepseek.com',
  baseUrl: 'https://api.deepseek.com',
  auth: { kind: 'bearer' },
  formatAuth: { 'anthropic-messages': { kind: 'header', name: 'x-api-key' } },
  formats: {
    'openai-chat': '/chat/completions',
    'openai-completions': '/beta/completions',
    'anthropic-messages': '/anthropic/v1/messages',
  },
  // https://api-docs.deepseek.com/guides/thinking_mode: what was thought before a call comes back with it, or 400.
  dialect: { reasoningField: 'reasoning_content', noReasoning: '', maxStops: 16 },
  // https://api-docs.deepseek.com/quick_start/error_codes: "Insufficient Balance"; some of its surfaces say it with 400.
  faults: [{ statuses: [400, 402, 403], pattern: /insufficient[ _]balance/i, kind: 'billing' }],
  modelsPath: '/models',
  /** https://api-docs.deepseek.com/api/get-user-balance */
  balance: {
    path: '/user/balance',
    each: '/balance_infos',
    remaining: '/total_balance',
    currency: { at: '/currency' },
  },
  forwardHeaders: 'standard',
  keyVariables: ['DEEPSEEK_API_KEY'],
  modelsDev: 'deepseek',
  prices: 'deepseek',
  unpriced: 'unknown',
  suggestedModel: 'deepseek-v4-pro',
};
