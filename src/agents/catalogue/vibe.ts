import type { AgentDefinition } from '../definition.ts';

export const vibe: AgentDefinition = {
  id: 'vibe',
  name: 'Mistral Vibe',
  description: 'The coding agent of Mistral AI for the terminal',
  docs: 'https://github.com/mistralai/mistral-vibe',
  install: 'see https://github.com/mistralai/mistral-vibe',
  binary: 'vibe-acp',
  args: [],
  env: [],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  evidence: {
    package: 'agentclientprotocol/registry@3de1678, mistral-vibe 2.0.2',
    by: 'read',
    date: '2026-11-23',
  },
};
