import type { Tool } from '../../tool.ts';
import { openCodeSettings } from './opencode-settings.ts';

/** OpenCode merges opencode.jsonc over opencode.json, on every system below the XDG folder. */
export const opencode: Tool = {
  id: 'opencode',
  name: 'OpenCode',
  color: '#F97316',
  description: 'Open-source coding agent for the terminal',
  docsUrl: 'https://opencode.ai/docs',
  category: 'code',
  vendor: 'Anomaly',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: ['opencode'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'jsonc',
        folders: ['$XDG_CONFIG_HOME/opencode', '~/.config/opencode'],
        names: ['opencode.jsonc', 'opencode.json'],
        settings: openCodeSettings,
      },
    ],
  },
  evidence: { package: 'opencode-ai@1.18.33', by: 'run', date: '2026-11-22' },
};
