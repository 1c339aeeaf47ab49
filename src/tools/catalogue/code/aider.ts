import type { Tool } from '../../tool.ts';

/** Aider asks LiteLLM, which takes what is behind `openai/` for the model's id and adds the path to the address. */
export const aider: Tool = {
  id: 'aider',
  name: 'Aider',
  color: '#14B014',
  description: 'Open-source pair programmer for the terminal',
  docsUrl: 'https://aider.chat/docs/config/options.html',
  category: 'code',
  vendor: 'P. Gauthier (open source)',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: ['aider'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'yaml',
        folders: ['~'],
        names: ['.aider.conf.yml'],
        settings: [
          { path: ['openai-api-base'], value: '<base_url>' },
          { path: ['openai-api-key'], value: '<api_key>' },
          { path: ['model'], value: 'openai/<model>' },
        ],
      },
    ],
  },
  evidence: { package: 'Aider-AI/aider v0.86.2', by: 'read', date: '2026-11-22' },
};
