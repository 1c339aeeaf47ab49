import type { Tool } from '../../tool.ts';

/**
 * Qwen Code identifies models by their id and the variable of their key. Variables in the `env` group of its settings
 * count where neither the environment nor a .env file sets them.
 */
export const qwen: Tool = {
  id: 'qwen',
  name: 'Qwen Code',
  color: '#615CED',
  description: "Alibaba's coding agent for the terminal",
  docsUrl: 'https://qwenlm.github.io/qwen-code-docs',
  category: 'code',
  vendor: 'Alibaba',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: ['qwen'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'jsonc',
        folders: ['$QWEN_HOME', '~/.qwen'],
        names: ['settings.json'],
        settings: [
          { path: ['modelProviders', 'openai', { key: 'id', equals: '<model>' }, 'name'], value: '<model>' },
          {
            path: ['modelProviders', 'openai', { key: 'id', equals: '<model>' }, 'baseUrl'],
            value: '<base_url>',
          },
          {
            path: ['modelProviders', 'openai', { key: 'id', equals: '<model>' }, 'envKey'],
            value: '<key_variable>',
          },
          { path: ['security', 'auth', 'selectedType'], value: 'openai' },
          { path: ['model', 'name'], value: '<model>' },
          { path: ['env', '<key_variable>'], value: '<api_key>' },
        ],
      },
    ],
  },
  evidence: { package: '@qwen-code/qwen-code@0.24.4', by: 'run', date: '2026-11-22' },
};
