import type { Tool } from '../../tool.ts';

/** Stands for every tool that its user describes; each of those is an entry of its own. */
export const custom: Tool = {
  id: 'custom',
  name: 'Your own tool',
  color: '#64748B',
  description: 'Any program that takes an address and a key from its environment or from a file',
  docsUrl: 'https://www.npmjs.com/package/modelgate',
  category: 'code',
  vendor: 'Custom',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom-builder',
  binaries: [],
  recipe: {
    api: 'openai-chat',
    model: 'optional',
    files: [],
    steps: ['Describe the tool with `gateway tools add`, then configure it by the id that you gave it.'],
  },
  evidence: { package: 'modelgate', by: 'run', date: '2026-11-22' },
};
