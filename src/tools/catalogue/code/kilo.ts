import type { Tool } from '../../tool.ts';
import { openCodeSettings } from './opencode-settings.ts';

/** The command line of Kilo Code is a descendant of OpenCode, with a configuration of the same shape. */
export const kilo: Tool = {
  id: 'kilo',
  name: 'Kilo Code',
  color: '#F8F675',
  description: 'Open-source coding agent for the terminal and for editors',
  docsUrl: 'https://kilocode.ai/docs',
  category: 'code',
  vendor: 'Kilo-Org',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['kilo', 'kilocode'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'jsonc',
        folders: ['$XDG_CONFIG_HOME/kilo', '~/.config/kilo'],
        names: ['kilo.jsonc', 'kilo.json'],
        settings: openCodeSettings,
      },
    ],
  },
  evidence: { package: '@kilocode/cli@7.7.7', by: 'run', date: '2026-11-22' },
};
