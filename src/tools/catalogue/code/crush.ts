import type { Path } from '../../files/path.ts';
import type { Tool } from '../../tool.ts';

const provider: Path = ['providers', 'modelgate'];

/**
 * Crush runs keys of its configuration through a shell, so they may name a variable. The model that was last chosen in
 * it stands in a file of its state, and wins.
 */
export const crush: Tool = {
  id: 'crush',
  name: 'Crush',
  color: '#FF60FF',
  description: 'Open-source coding agent for the terminal',
  docsUrl: 'https://github.com/charmbracelet/crush',
  category: 'code',
  vendor: 'Charm',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['crush'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'json',
        folders: ['$CRUSH_GLOBAL_CONFIG', '$XDG_CONFIG_HOME/crush', '~/.config/crush'],
        names: ['crush.json'],
        settings: [
          { path: [...provider, 'name'], value: 'Modelgate' },
          { path: [...provider, 'type'], value: 'openai-compat' },
          { path: [...provider, 'base_url'], value: '<base_url>' },
          { path: [...provider, 'api_key'], value: '$<key_variable>' },
          { path: [...provider, 'models', { key: 'id', equals: '<model>' }, 'name'], value: '<model>' },
          { path: ['models', 'large', 'provider'], value: 'modelgate' },
          { path: ['models', 'large', 'model'], value: '<model>' },
          { path: ['models', 'small', 'provider'], value: 'modelgate' },
          { path: ['models', 'small', 'model'], value: '<model>' },
        ],
      },
      {
        format: 'json',
        folders: [
          '$CRUSH_GLOBAL_DATA',
          '$XDG_DATA_HOME/crush',
          '$LOCALAPPDATA/crush',
          '~/.local/share/crush',
        ],
        names: ['crush.json'],
        settings: [],
        conflicts: [
          ['models', 'large'],
          ['models', 'small'],
        ],
      },
    ],
  },
  evidence: { package: 'charmbracelet/crush v0.90.0 (37f36e9)', by: 'read', date: '2026-11-22' },
};
