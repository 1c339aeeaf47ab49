import type { AgentDefinition } from '../definition.ts';

/** Copilot CLI takes another endpoint from its environment, and then needs no login at GitHub. */
export const copilot: AgentDefinition = {
  id: 'copilot',
  name: 'GitHub Copilot CLI',
  description: "GitHub's coding agent for the terminal",
  docs: 'https://docs.github.com/copilot/concepts/agents/about-copilot-cli',
  install: 'npm install -g @github/copilot',
  binary: 'copilot',
  args: ['--acp'],
  env: ['COPILOT_GITHUB_TOKEN', 'COPILOT_HOME'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'config_option' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  route: ({ baseUrl, key, model }) => ({
    env: {
      COPILOT_PROVIDER_BASE_URL: `${baseUrl}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_WIRE_API: 'completions',
      COPILOT_PROVIDER_API_KEY: key,
      COPILOT_MODEL: model,
      COPILOT_OFFLINE: 'true',
    },
    // A home folder of its own, without the permissions that its user has given it elsewhere.
    files: { '.copilot/config.json': '{}' },
  }),
  evidence: { package: '@github/copilot@1.0.102', by: 'run', date: '2026-11-23' },
};
