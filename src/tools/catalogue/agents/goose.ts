import type { Tool } from '../../tool.ts';

/**
 * Goose has one file for each endpoint of its user's own, with the name of the variable that holds its key; its
 * configuration says which of them it uses. What older versions have there instead it moves itself.
 */
const folders = [
  '$GOOSE_PATH_ROOT/config',
  '$XDG_CONFIG_HOME/goose',
  '$APPDATA/Block/goose/config',
  '~/.config/goose',
] as const;

export const goose: Tool = {
  id: 'goose',
  name: 'Goose',
  color: '#0F172A',
  description: 'Open-source agent for the terminal and the desktop',
  docsUrl: 'https://goose-docs.ai',
  category: 'agent',
  vendor: 'Block / Linux Foundation',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: ['goose'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'yaml',
        folders,
        names: ['config.yaml'],
        settings: [
          { path: ['active_provider'], value: 'modelgate' },
          { path: ['providers', 'modelgate', 'enabled'], value: true },
          { path: ['providers', 'modelgate', 'model'], value: '<model>' },
          { path: ['providers', 'modelgate', 'configured'], value: true },
        ],
      },
      {
        format: 'json',
        folders: folders.map((folder) => `${folder}/custom_providers`),
        names: ['modelgate.json'],
        settings: [
          { path: ['name'], value: 'modelgate' },
          { path: ['engine'], value: 'openai' },
          { path: ['display_name'], value: 'Modelgate' },
          { path: ['api_key_env'], value: '<key_variable>' },
          { path: ['base_url'], value: '<base_url>' },
          // Goose needs the context size in its configuration. It does not ask the gateway.
          { path: ['models', { key: 'name', equals: '<model>' }, 'context_limit'], value: 128_000 },
        ],
      },
    ],
  },
  evidence: { package: 'aaif-goose/goose@03b90085', by: 'read', date: '2026-11-22' },
};
