import type { Tool } from '../../tool.ts';

/** Cursor keeps its keys and addresses in a database of its own, so its user has to enter them. */
export const cursor: Tool = {
  id: 'cursor',
  name: 'Cursor',
  color: '#2B2B2B',
  description: 'Code editor with a coding agent',
  docsUrl: 'https://docs.cursor.com/settings/models',
  category: 'code',
  vendor: 'Anysphere',
  acpSpawnable: false,
  baseUrlSupport: 'none',
  configType: 'guide',
  binaries: ['cursor'],
  limitation:
    "its servers call the endpoint, so the gateway needs a public address; agents and completion always use Cursor's models",
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [],
    steps: [
      'In Cursor open Settings, Models, API Keys.',
      'Switch "OpenAI API Key" on and enter a gateway key: `gateway keys add cursor` makes one.',
      'Switch "Override OpenAI Base URL" on and enter <base_url>. Cursor\'s servers have to reach this address.',
      'Add the custom model <model> and choose it in Ask mode.',
    ],
  },
  evidence: { package: 'cursor.com/docs, settings of models', by: 'read', date: '2026-11-22' },
};
