import type { AgentDefinition } from '../definition.ts';

export const kimi: AgentDefinition = {
  id: 'kimi',
  name: 'Kimi CLI',
  description: 'The coding agent of Moonshot AI for the terminal',
  docs: 'https://github.com/MoonshotAI/kimi-cli',
  install: 'see https://github.com/MoonshotAI/kimi-cli',
  binary: 'kimi',
  args: ['acp'],
  env: [],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  evidence: { package: 'agentclientprotocol/registry@3de1678, kimi 1.9.0', by: 'read', date: '2026-11-23' },
};
