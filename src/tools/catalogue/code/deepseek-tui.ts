import type { Folder, Recipe, Tool } from '../../tool.ts';

/** One set of entries, in the folder that the version reads. It sends model ids as they are to this provider. */
const recipeIn = (folders: readonly Folder[]): Recipe => ({
  api: 'openai-chat',
  model: 'required',
  files: [
    {
      format: 'toml',
      folders,
      names: ['config.toml'],
      settings: [
        { path: ['provider'], value: 'openai' },
        { path: ['default_text_model'], value: '<model>' },
        { path: ['providers', 'openai', 'base_url'], value: '<base_url>' },
        { path: ['providers', 'openai', 'api_key'], value: '<api_key>' },
        { path: ['providers', 'openai', 'model'], value: '<model>' },
      ],
    },
  ],
});

/** Where CodeWhale reads its configuration: the place of its former name counts until it has a file in its own. */
export const codewhaleFolders: readonly Folder[] = [
  '$CODEWHALE_HOME',
  { folder: '~/.codewhale', where: '~/.codewhale/config.toml' },
  { folder: '~/.deepseek', where: '~/.deepseek/config.toml' },
  '~/.codewhale',
];

/** The provider that CodeWhale before 0.9 and DeepSeek TUI have for gateways, with its key in the file. */
export const builtInProvider: Recipe = recipeIn(codewhaleFolders);

/**
 * DeepSeek TUI became CodeWhale. Its last versions, from 0.8.41, start CodeWhale under the former name, and from 0.8.44 they
 * read CodeWhale's folder. There is no version after 0.8.
 */
export const deepseekTui: Tool = {
  id: 'deepseek-tui',
  name: 'DeepSeek TUI',
  color: '#4D6BFE',
  description: 'Open-source coding agent for the terminal; it continues as CodeWhale',
  docsUrl: 'https://github.com/Hmbown/CodeWhale/blob/main/docs/REBRAND.md',
  category: 'code',
  vendor: 'H. Bown (open source)',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['deepseek-tui', 'deepseek'],
  recipe: builtInProvider,
  formerRecipes: [{ before: '0.8.44', recipe: recipeIn(['~/.deepseek']) }],
  evidence: {
    package: 'Hmbown/DeepSeek-TUI v0.8.40, Hmbown/CodeWhale v0.8.67',
    by: 'read',
    date: '2026-11-22',
  },
};
