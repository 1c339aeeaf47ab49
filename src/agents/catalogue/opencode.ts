import { keyVariable } from '../../tools/tool.ts';
import type { AgentDefinition } from '../definition.ts';
import { askFirst } from './ask-first.ts';
import { openCodeConfiguration } from './opencode-configuration.ts';

export const opencode: AgentDefinition = {
  id: 'opencode',
  name: 'OpenCode',
  description: 'Open-source coding agent for the terminal',
  docs: 'https://opencode.ai/docs/acp/',
  install: 'npm install -g opencode-ai',
  binary: 'opencode',
  args: ['acp'],
  env: ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR'],
  variables: { OPENCODE_PERMISSION: askFirst },
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'config_option' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  // It needs 7 to 14 seconds on a small machine.
  startTimeoutMs: 60_000,
  route: (gateway) => ({
    env: { [keyVariable]: gateway.key },
    files: { '.config/opencode/opencode.json': openCodeConfiguration(gateway) },
  }),
  evidence: { package: 'opencode-ai@1.18.33', by: 'run', date: '2026-11-23' },
};
