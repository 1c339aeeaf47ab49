import type { AgentDefinition } from '../definition.ts';

export const kiro: AgentDefinition = {
  id: 'kiro',
  name: 'Kiro CLI',
  description: 'The coding agent of AWS for the terminal, which was Amazon Q',
  docs: 'https://kiro.dev/docs/cli/acp/',
  install: 'see https://kiro.dev/docs/cli',
  binary: 'kiro-cli',
  args: ['acp'],
  env: [],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  evidence: { package: 'https://zed.dev/acp/agent/kiro-cli', by: 'read', date: '2026-11-23' },
};
