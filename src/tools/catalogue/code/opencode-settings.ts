import type { Setting } from '../../tool.ts';

/** A provider of one's own in the configuration of OpenCode, and of Kilo Code, which began as OpenCode. */
export const openCodeSettings: readonly Setting[] = [
  { path: ['provider', 'modelgate', 'npm'], value: '@ai-sdk/openai-compatible' },
  { path: ['provider', 'modelgate', 'name'], value: 'Modelgate' },
  { path: ['provider', 'modelgate', 'options', 'baseURL'], value: '<base_url>' },
  { path: ['provider', 'modelgate', 'options', 'apiKey'], value: '{env:<key_variable>}' },
  { path: ['provider', 'modelgate', 'models', '<model>', 'name'], value: '<model>' },
  { path: ['model'], value: 'modelgate/<model>' },
];
