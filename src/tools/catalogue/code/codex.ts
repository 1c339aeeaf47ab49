import type { Tool } from '../../tool.ts';

/** Codex has providers in its configuration, each with the name of a variable that holds its key. */
export const codex: Tool = {
  id: 'codex',
  name: 'OpenAI Codex CLI',
  color: '#10A37F',
  description: "OpenAI's coding agent for the terminal",
  docsUrl: 'https://github.com/openai/codex',
  category: 'code',
  vendor: 'OpenAI',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['codex'],
  recipe: {
    api: 'openai-responses',
    model: 'required',
    files: [
      {
        format: 'toml',
        folders: ['$CODEX_HOME', '~/.codex'],
        names: ['config.toml'],
        settings: [
          { path: ['model'], value: '<model>' },
          { path: ['model_provider'], value: 'modelgate' },
          { path: ['model_providers', 'modelgate', 'name'], value: 'Modelgate' },
          { path: ['model_providers', 'modelgate', 'base_url'], value: '<base_url>' },
          { path: ['model_providers', 'modelgate', 'env_key'], value: '<key_variable>' },
          { path: ['model_providers', 'modelgate', 'wire_api'], value: 'responses' },
        ],
      },
    ],
  },
  evidence: { package: '@openai/codex@0.169.0', by: 'run', date: '2026-11-22' },
};
