import type { Tool } from '../../tool.ts';
import { builtInProvider, codewhaleFolders } from './deepseek-tui.ts';

/** CodeWhale has providers of its user's own since version 0.9, each with the name of a variable that holds its key. */
export const codewhale: Tool = {
  id: 'codewhale',
  name: 'CodeWhale',
  color: '#1E88A8',
  description: 'Open-source coding agent for the terminal, formerly DeepSeek TUI',
  docsUrl: 'https://github.com/Hmbown/CodeWhale',
  category: 'code',
  vendor: 'H. Bown (open source)',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['codewhale', 'codew'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'toml',
        folders: codewhaleFolders,
        names: ['config.toml'],
        settings: [
          { path: ['provider'], value: 'modelgate' },
          { path: ['providers', 'modelgate', 'kind'], value: 'openai-compatible' },
          { path: ['providers', 'modelgate', 'base_url'], value: '<base_url>' },
          { path: ['providers', 'modelgate', 'api_key_env'], value: '<key_variable>' },
          { path: ['providers', 'modelgate', 'model'], value: '<model>' },
        ],
      },
    ],
  },
  formerRecipes: [{ before: '0.9.0', recipe: builtInProvider }],
  evidence: { package: 'Hmbown/CodeWhale v0.9.10', by: 'read', date: '2026-11-22' },
};
