import type { AgentDefinition } from '../definition.ts';

export const goose: AgentDefinition = {
  id: 'goose',
  name: 'Goose',
  description: 'Open-source agent for the terminal and the desktop',
  docs: 'https://goose-docs.ai/docs/guides/acp-clients',
  install: 'see https://goose-docs.ai/docs/getting-started/installation',
  binary: 'goose',
  args: ['acp'],
  env: ['GOOSE_PATH_ROOT'],
  // It asks before each tool.
  variables: { GOOSE_MODE: 'approve' },
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  evidence: {
    package: 'https://block.github.io/goose/docs/guides/acp-clients',
    by: 'read',
    date: '2026-11-23',
  },
};
