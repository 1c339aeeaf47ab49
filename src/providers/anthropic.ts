import type { Provider } from './provider.ts';

/**
 * https://platform.claude.com/docs/en/api/overview
 * Its OpenAI-compatible layer is left out: Anthropic calls it a means of testing, without prompt caching.
 */
export const anthropic: Provider = {
  id: 'anthropic',
  name: 'Anthropic',
  category: 'api-key',
  website: 'https://platform.claude.com',
  documentation: 'https://platform.claude.com/docs/en/api/overview',
  baseUrl: 'https://api.anthropic.com',
  auth: { kind: 'header', name: 'x-api-key' },
  formats: { 'anthropic-messages': '/v1/messages' },
  counts: ['anthropic-messages'],
  dialect: { schema: 'anthropic', signedThinking: true, serviceTier: true },
  // https://platform.claude.com/docs/en/api/errors; a balance that is used up is said with 400.
  faults: [
    { statuses: [400, 402, 403], pattern: /credit balance is too low|billing_error/i, kind: 'billing' },
    { statuses: [403], pattern: /organization has been disabled|OAuth/i, kind: 'credential' },
  ],
  // https://platform.claude.com/docs/en/build-with-claude/batch-processing: half of the usual prices.
  tiers: { batch: [{ factor: 0.5, source: 'platform.claude.com 2026-11-23' }] },
  limitsPerModel: true,
  modelsPath: '/v1/models',
  headers: { 'anthropic-version': '2023-06-01' },
  forwardHeaders: 'all',
  keyVariables: ['ANTHROPIC_API_KEY'],
  modelsDev: 'anthropic',
  prices: 'anthropic',
  unpriced: 'unknown',
  suggestedModel: 'claude-sonnet-5',
};
