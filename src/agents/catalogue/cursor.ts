import type { AgentDefinition } from '../definition.ts';

export const cursor: AgentDefinition = {
  id: 'cursor',
  name: 'Cursor CLI',
  description: 'The coding agent of Cursor for the terminal',
  docs: 'https://cursor.com/docs/cli/acp',
  install: 'see https://cursor.com/cli',
  binary: 'cursor-agent',
  args: ['acp'],
  env: ['CURSOR_API_KEY', 'CURSOR_AUTH_TOKEN'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  authMethod: 'cursor_login',
  evidence: { package: 'https://cursor.com/docs/cli/acp', by: 'read', date: '2026-11-23' },
};
