import type { Tool } from '../../tool.ts';

/** Grok Build has models of its user's own, each with the name of a variable that holds its key. */
export const grokBuild: Tool = {
  id: 'grok-build',
  name: 'Grok Build',
  color: '#1D9BF0',
  description: "xAI's coding agent for the terminal",
  docsUrl: 'https://docs.x.ai/build/overview',
  category: 'code',
  vendor: 'xAI',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['grok'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'toml',
        folders: ['$GROK_HOME', '~/.grok'],
        names: ['config.toml'],
        settings: [
          { path: ['models', 'default'], value: 'modelgate' },
          // Its models for titles and the like too: the built-in ones need not exist behind a gateway.
          { path: ['models', 'session_summary'], value: 'modelgate' },
          { path: ['models', 'image_description'], value: 'modelgate' },
          { path: ['models', 'prompt_suggestion'], value: 'modelgate' },
          { path: ['model', 'modelgate', 'model'], value: '<model>' },
          { path: ['model', 'modelgate', 'name'], value: 'Modelgate' },
          { path: ['model', 'modelgate', 'base_url'], value: '<base_url>' },
          { path: ['model', 'modelgate', 'env_key'], value: '<key_variable>' },
          { path: ['model', 'modelgate', 'api_backend'], value: 'chat_completions' },
        ],
      },
    ],
  },
  evidence: { package: '@xai-official/grok@1.0.41', by: 'run', date: '2026-11-22' },
};
