import type { Recipe, Tool } from '../../tool.ts';

/** Before version 3 it kept one provider for each of its modes, and the keys in a file of their own. */
const beforeVersion3: Recipe = {
  api: 'openai-chat',
  model: 'required',
  files: [
    {
      format: 'json',
      folders: ['~/.cline/data'],
      names: ['globalState.json'],
      settings: [
        { path: ['actModeApiProvider'], value: 'openai' },
        { path: ['planModeApiProvider'], value: 'openai' },
        { path: ['openAiBaseUrl'], value: '<base_url>' },
        { path: ['actModeOpenAiModelId'], value: '<model>' },
        { path: ['planModeOpenAiModelId'], value: '<model>' },
        // Without it Cline asks for a login first.
        { path: ['welcomeViewCompleted'], value: true, ifAbsent: true },
      ],
    },
    {
      format: 'json',
      folders: ['~/.cline/data'],
      names: ['secrets.json'],
      settings: [{ path: ['openAiApiKey'], value: '<api_key>' }],
    },
  ],
};

/** The command line of Cline keeps one set of settings for each provider, and the name of the last one used. */
export const cline: Tool = {
  id: 'cline',
  name: 'Cline',
  color: '#5B5FC7',
  description: 'Open-source coding agent for the terminal and for editors',
  docsUrl: 'https://docs.cline.bot',
  category: 'code',
  vendor: 'Cline (open source)',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['cline'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'json',
        folders: ['~/.cline/data/settings'],
        names: ['providers.json'],
        settings: [
          { path: ['version'], value: 1, ifAbsent: true },
          { path: ['lastUsedProvider'], value: 'openai-compatible' },
          { path: ['providers', 'openai-compatible', 'settings', 'provider'], value: 'openai-compatible' },
          { path: ['providers', 'openai-compatible', 'settings', 'apiKey'], value: '<api_key>' },
          { path: ['providers', 'openai-compatible', 'settings', 'model'], value: '<model>' },
          { path: ['providers', 'openai-compatible', 'settings', 'baseUrl'], value: '<base_url>' },
          // Without a time Cline passes the provider over. It writes the time of its own changes there.
          {
            path: ['providers', 'openai-compatible', 'updatedAt'],
            value: '2026-11-22T00:00:00.000Z',
            ifAbsent: true,
          },
        ],
      },
    ],
  },
  formerRecipes: [{ before: '3.0.0', recipe: beforeVersion3 }],
  evidence: { package: 'cline@3.0.65, 3.0.57, 2.18.0 and 1.0.10', by: 'run', date: '2026-11-22' },
};
