import type { Tool } from '../../tool.ts';

export const kiro: Tool = {
  id: 'kiro',
  name: 'Kiro',
  color: '#9046FF',
  description: "Amazon's code editor and command line with agents",
  docsUrl: 'https://kiro.dev/docs',
  category: 'code',
  vendor: 'Amazon',
  acpSpawnable: false,
  baseUrlSupport: 'none',
  configType: 'mitm',
  binaries: ['kiro-cli', 'kiro'],
  limitation: 'it only uses the models of a Kiro or AWS account, and has no setting for another endpoint',
  recipe: { api: 'anthropic-messages', model: 'optional', files: [] },
  evidence: {
    package: 'kirodotdev/Kiro, issue 9367 (own keys and endpoints, open)',
    by: 'read',
    date: '2026-11-22',
  },
};
