import type { Tool } from '../../tool.ts';

/**
 * Letta Code asks a model itself only in its local mode; in the other one its servers do. It lists the models of the
 * endpoint, and keeps the choice with each of its agents.
 */
export const letta: Tool = {
  id: 'letta',
  name: 'Letta Code',
  color: '#0F766E',
  description: 'Open-source agent with a memory that it keeps',
  docsUrl: 'https://docs.letta.com/letta-code',
  category: 'agent',
  vendor: 'Letta',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['letta'],
  recipe: {
    api: 'openai-chat',
    model: 'optional',
    files: [
      {
        format: 'json',
        folders: ['$LETTA_LOCAL_BACKEND_DIR/providers', '~/.letta/lc-local-backend/providers'],
        names: ['auth.json'],
        settings: [
          { path: ['version'], value: 1, ifAbsent: true },
          { path: ['providers', 'openai-compatible', 'id'], value: 'local-provider-openai-compatible' },
          { path: ['providers', 'openai-compatible', 'name'], value: 'openai-compatible' },
          { path: ['providers', 'openai-compatible', 'provider_type'], value: 'openai-compatible' },
          { path: ['providers', 'openai-compatible', 'provider_category'], value: 'byok' },
          { path: ['providers', 'openai-compatible', 'auth', 'type'], value: 'api' },
          { path: ['providers', 'openai-compatible', 'auth', 'key'], value: '<api_key>' },
          { path: ['providers', 'openai-compatible', 'base_url'], value: '<base_url>' },
        ],
      },
      {
        format: 'json',
        folders: ['~/.letta'],
        names: ['settings.json'],
        settings: [{ path: ['preferredBackendMode'], value: 'local' }],
      },
    ],
    steps: ['Make an agent that uses it: letta --new-agent --model openai-compatible/MODEL'],
  },
  evidence: { package: '@letta-ai/letta-code@0.32.18', by: 'run', date: '2026-11-22' },
};
