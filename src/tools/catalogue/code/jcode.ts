import type { Tool } from '../../tool.ts';

/** jcode has named provider profiles since version 0.11.8. */
export const jcode: Tool = {
  id: 'jcode',
  name: 'jcode',
  color: '#B83280',
  description: 'Open-source coding agent for the terminal',
  docsUrl: 'https://github.com/1jehuang/jcode',
  category: 'code',
  vendor: '1jehuang (open source)',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['jcode'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'toml',
        folders: ['$JCODE_HOME', '~/.jcode'],
        names: ['config.toml'],
        settings: [
          { path: ['provider', 'default_provider'], value: 'modelgate' },
          { path: ['provider', 'default_model'], value: '<model>' },
          { path: ['providers', 'modelgate', 'type'], value: 'openai-compatible' },
          { path: ['providers', 'modelgate', 'base_url'], value: '<base_url>' },
          { path: ['providers', 'modelgate', 'api_key_env'], value: '<key_variable>' },
          { path: ['providers', 'modelgate', 'default_model'], value: '<model>' },
        ],
      },
    ],
  },
  evidence: { package: '1jehuang/jcode v0.79.1', by: 'read', date: '2026-11-22' },
};
