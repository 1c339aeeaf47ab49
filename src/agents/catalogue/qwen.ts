import type { AgentDefinition } from '../definition.ts';

export const qwen: AgentDefinition = {
  id: 'qwen',
  name: 'Qwen Code',
  description: "Alibaba's coding agent for the terminal",
  docs: 'https://qwenlm.github.io/qwen-code-docs',
  install: 'npm install -g @qwen-code/qwen-code',
  binary: 'qwen',
  // Its own default lets a model decide what needs no question.
  args: ['--acp', '--approval-mode', 'default'],
  env: ['QWEN_HOME'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'set_model' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  route: ({ baseUrl, key, model }) => ({
    env: { OPENAI_BASE_URL: `${baseUrl}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model },
    args: ['--auth-type', 'openai'],
    files: { '.qwen/settings.json': JSON.stringify({ privacy: { usageStatisticsEnabled: false } }) },
  }),
  providerAlias: 'qwen',
  evidence: { package: '@qwen-code/qwen-code@0.24.4', by: 'run', date: '2026-11-23' },
};
