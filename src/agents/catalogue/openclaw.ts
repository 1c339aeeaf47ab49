import type { AgentDefinition } from '../definition.ts';

export const openclaw: AgentDefinition = {
  id: 'openclaw',
  name: 'OpenClaw',
  description: 'Open-source personal assistant; needs its own gateway running',
  docs: 'https://docs.openclaw.ai/cli/acp',
  install: 'npm install -g openclaw',
  binary: 'openclaw',
  args: ['acp'],
  env: ['OPENCLAW_STATE_DIR', 'OPENCLAW_HOME'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  evidence: { package: 'https://docs.openclaw.ai/cli/acp', by: 'read', date: '2026-11-23' },
};
