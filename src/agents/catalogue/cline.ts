import type { AgentDefinition } from '../definition.ts';

/** Cline opens no session before a provider is set up; it leaves a daemon behind, which its process group ends with. */
export const cline: AgentDefinition = {
  id: 'cline',
  name: 'Cline',
  description: 'Open-source coding agent for the terminal and for editors',
  docs: 'https://docs.cline.bot',
  install: 'npm install -g cline',
  binary: 'cline',
  args: ['--acp'],
  env: [],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'set_model' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  route: ({ baseUrl, key, model }) => ({
    env: { CLINE_API_KEY: key, CLINE_PROVIDER: 'openai-compatible', CLINE_MODEL: model },
    // Neither its settings nor its variables set the model of a session (seen with 3.0.65).
    model,
    files: {
      '.cline/data/settings/providers.json': JSON.stringify({
        version: 1,
        lastUsedProvider: 'openai-compatible',
        providers: {
          'openai-compatible': {
            settings: { provider: 'openai-compatible', apiKey: key, model, baseUrl: `${baseUrl}/v1` },
            // Without a time it passes the provider over.
            updatedAt: '2026-11-22T00:00:00.000Z',
          },
        },
      }),
    },
  }),
  evidence: { package: 'cline@3.0.65', by: 'run', date: '2026-11-23' },
};
