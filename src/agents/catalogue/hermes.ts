import type { AgentDefinition } from '../definition.ts';

export const hermes: AgentDefinition = {
  id: 'hermes',
  name: 'Hermes Agent',
  description: 'Open-source agent of Nous Research',
  docs: 'https://hermes-agent.nousresearch.com/docs/developer-guide/programmatic-integration',
  install: 'see https://hermes-agent.nousresearch.com/docs',
  binary: 'hermes',
  args: ['acp'],
  env: ['HERMES_HOME'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'none' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  evidence: {
    package: 'https://hermes-agent.nousresearch.com/docs/developer-guide/programmatic-integration',
    by: 'read',
    date: '2026-11-23',
  },
};
