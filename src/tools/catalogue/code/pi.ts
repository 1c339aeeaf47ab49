import type { Tool } from '../../tool.ts';

/** Pi has its endpoints in models.json, with keys that may name a variable, and its choice in settings.json. */
export const pi: Tool = {
  id: 'pi',
  name: 'Pi',
  color: '#7C3AED',
  description: 'Small open-source coding agent for the terminal',
  docsUrl: 'https://github.com/badlogic/pi',
  category: 'code',
  vendor: 'M. Zechner (open source)',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['pi'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'json',
        folders: ['$PI_CODING_AGENT_DIR', '~/.pi/agent'],
        names: ['models.json'],
        settings: [
          { path: ['providers', 'modelgate', 'baseUrl'], value: '<base_url>' },
          { path: ['providers', 'modelgate', 'api'], value: 'openai-completions' },
          { path: ['providers', 'modelgate', 'apiKey'], value: '$<key_variable>' },
          {
            path: ['providers', 'modelgate', 'models', { key: 'id', equals: '<model>' }, 'name'],
            value: '<model>',
          },
        ],
      },
      {
        format: 'json',
        folders: ['$PI_CODING_AGENT_DIR', '~/.pi/agent'],
        names: ['settings.json'],
        settings: [
          { path: ['defaultProvider'], value: 'modelgate' },
          { path: ['defaultModel'], value: '<model>' },
        ],
      },
    ],
  },
  evidence: { package: '@earendil-works/pi-coding-agent@0.87.1', by: 'run', date: '2026-11-22' },
};
