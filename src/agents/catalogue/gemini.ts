import type { AgentDefinition } from '../definition.ts';

export const gemini: AgentDefinition = {
  id: 'gemini',
  name: 'Gemini CLI',
  description: "Google's coding agent for the terminal",
  docs: 'https://geminicli.com/docs',
  install: 'npm install -g @google/gemini-cli',
  binary: 'gemini',
  args: ['--acp', '--approval-mode', 'default'],
  env: ['GOOGLE_CLOUD_PROJECT'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'set_model' },
  permissions: [],
  // Through the files of its client it makes no new ones: it does not see that they are missing (0.61.0). It asks all the same.
  capabilities: { fs: false, terminal: true },
  startTimeoutMs: 60_000,
  route: ({ baseUrl, key, model }) => ({
    env: { GOOGLE_GEMINI_BASE_URL: baseUrl, GEMINI_API_KEY: key },
    args: ['--model', model],
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
      }),
    },
  }),
  providerAlias: 'gemini',
  evidence: { package: '@google/gemini-cli@0.61.0', by: 'run', date: '2026-11-23' },
};
