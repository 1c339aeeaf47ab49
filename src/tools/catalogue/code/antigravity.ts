import type { Tool } from '../../tool.ts';

export const antigravity: Tool = {
  id: 'antigravity',
  name: 'Antigravity',
  color: '#4285F4',
  description: "Google's code editor with agents",
  docsUrl: 'https://antigravity.google/docs',
  category: 'code',
  vendor: 'Google',
  acpSpawnable: false,
  baseUrlSupport: 'none',
  configType: 'mitm',
  binaries: ['antigravity'],
  limitation: 'it only uses the models of a Google account, and documents no setting for another endpoint',
  recipe: { api: 'gemini', model: 'optional', files: [] },
  evidence: { package: 'antigravity.google/docs', by: 'read', date: '2026-11-22' },
};
