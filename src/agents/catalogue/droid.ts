import type { AgentDefinition } from '../definition.ts';

/** Droid has models of its user's own beside those of Factory; with one of them it needs no login. */
export const droid: AgentDefinition = {
  id: 'droid',
  name: 'Factory Droid',
  description: "Factory's coding agent for the terminal",
  docs: 'https://docs.factory.ai/cli',
  install: 'npm install -g droid',
  binary: 'droid',
  args: ['exec', '--output-format', 'acp'],
  env: ['FACTORY_API_KEY'],
  variables: { DROID_DISABLE_AUTO_UPDATE: 'true', FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false' },
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'set_model' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  route: ({ baseUrl, key, model }) => ({
    // Without it Droid waits for its maker's hosts.
    env: { FACTORY_AIRGAP_ENABLED: 'true' },
    args: ['--model', 'custom:modelgate'],
    files: {
      '.factory/settings.json': JSON.stringify({
        customModels: [
          {
            model,
            id: 'custom:modelgate',
            displayName: 'Modelgate',
            baseUrl: `${baseUrl}/v1`,
            apiKey: key,
            provider: 'generic-chat-completion-api',
          },
        ],
      }),
    },
  }),
  evidence: { package: 'droid@0.215.0', by: 'run', date: '2026-11-23' },
};
