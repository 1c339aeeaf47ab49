import type { AgentDefinition } from '../definition.ts';

export const auggie: AgentDefinition = {
  id: 'auggie',
  name: 'Auggie',
  description: 'The coding agent of Augment Code for the terminal',
  docs: 'https://docs.augmentcode.com/cli',
  install: 'npm install -g @augmentcode/auggie',
  binary: 'auggie',
  args: ['--acp'],
  env: ['AUGMENT_SESSION_AUTH'],
  variables: { AUGMENT_DISABLE_AUTO_UPDATE: '1' },
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  evidence: {
    package: 'agentclientprotocol/registry@3de1678, auggie 0.15.0',
    by: 'read',
    date: '2026-11-23',
  },
};
