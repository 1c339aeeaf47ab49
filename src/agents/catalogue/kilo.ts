import { keyVariable } from '../../tools/tool.ts';
import type { AgentDefinition } from '../definition.ts';
import { askFirst } from './ask-first.ts';
import { openCodeConfiguration } from './opencode-configuration.ts';

/** A descendant of OpenCode, with its files and variables under names of its own. */
export const kilo: AgentDefinition = {
  id: 'kilo',
  name: 'Kilo Code',
  description: 'Open-source coding agent for the terminal and for editors',
  docs: 'https://kilo.ai/docs/cli',
  install: 'npm install -g @kilocode/cli',
  binary: 'kilo',
  args: ['acp'],
  env: ['KILO_CONFIG', 'KILO_CONFIG_DIR'],
  variables: { KILO_PERMISSION: askFirst },
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'config_option' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  // 19 to 28 seconds were seen on a busy machine.
  startTimeoutMs: 90_000,
  route: (gateway) => ({
    env: { [keyVariable]: gateway.key },
    files: { '.config/kilo/kilo.json': openCodeConfiguration(gateway) },
  }),
  evidence: { package: '@kilocode/cli@7.7.7', by: 'run', date: '2026-11-23' },
};
