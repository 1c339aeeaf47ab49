import type { AgentDefinition } from '../definition.ts';

export const opencode: AgentDefinition = {
  id: 'opencode',
  name: 'OpenCode',
  description: 'Open-source coding agent for the terminal',
  docs: 'https://opencode.ai/docs/acp/',
  binary: 'opencode',
  args: ['acp'],
  env: ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_CONTENT'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'config_option' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  // It needs 7 to 14 seconds on a small machine.
  startTimeoutMs: 60_000,
  evidence: { package: 'opencode-ai@1.18.33', by: 'run', date: '2026-11-21' },
};
