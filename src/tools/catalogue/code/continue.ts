import type { Tool } from '../../tool.ts';

/** Continue has a list of models. Name, version and schema of the file are required. */
export const continueTool: Tool = {
  id: 'continue',
  name: 'Continue',
  color: '#0EA5E9',
  description: 'Open-source coding agent for the terminal and for editors',
  docsUrl: 'https://docs.continue.dev',
  category: 'code',
  vendor: 'continue.dev',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: ['cn'],
  extension: 'Continue.continue',
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'yaml',
        folders: ['$CONTINUE_GLOBAL_DIR', '~/.continue'],
        names: ['config.yaml'],
        settings: [
          { path: ['name'], value: 'Local configuration', ifAbsent: true },
          { path: ['version'], value: '1.0.0', ifAbsent: true },
          { path: ['schema'], value: 'v1', ifAbsent: true },
          { path: ['models', { key: 'name', equals: 'Modelgate' }, 'provider'], value: 'openai' },
          { path: ['models', { key: 'name', equals: 'Modelgate' }, 'model'], value: '<model>' },
          { path: ['models', { key: 'name', equals: 'Modelgate' }, 'apiBase'], value: '<base_url>' },
          { path: ['models', { key: 'name', equals: 'Modelgate' }, 'apiKey'], value: '<api_key>' },
          {
            path: ['models', { key: 'name', equals: 'Modelgate' }, 'roles'],
            value: ['chat', 'edit', 'apply'],
          },
        ],
      },
    ],
  },
  evidence: { package: '@continuedev/cli@1.5.47', by: 'run', date: '2026-11-22' },
};
