import type { Tool } from '../../tool.ts';

/** Droid has models of its user's own beside those of Factory; with one of them it needs no login. */
export const droid: Tool = {
  id: 'droid',
  name: 'Factory Droid',
  color: '#EF6F2E',
  description: "Factory's coding agent for the terminal",
  docsUrl: 'https://docs.factory.ai/cli',
  category: 'code',
  vendor: 'Factory AI',
  acpSpawnable: false,
  baseUrlSupport: 'partial',
  configType: 'guide',
  binaries: ['droid'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'jsonc',
        folders: ['~/.factory'],
        names: ['settings.json'],
        settings: [
          { path: ['customModels', { key: 'id', equals: 'custom:modelgate' }, 'model'], value: '<model>' },
          {
            path: ['customModels', { key: 'id', equals: 'custom:modelgate' }, 'displayName'],
            value: 'Modelgate',
          },
          {
            path: ['customModels', { key: 'id', equals: 'custom:modelgate' }, 'baseUrl'],
            value: '<base_url>',
          },
          { path: ['customModels', { key: 'id', equals: 'custom:modelgate' }, 'apiKey'], value: '<api_key>' },
          {
            path: ['customModels', { key: 'id', equals: 'custom:modelgate' }, 'provider'],
            value: 'generic-chat-completion-api',
          },
        ],
      },
    ],
  },
  evidence: { package: 'droid@0.215.0', by: 'run', date: '2026-11-22' },
};
