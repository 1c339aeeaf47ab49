import type { Tool } from '../../tool.ts';

/** The command line of Cursor asks Cursor's own servers only: its configuration names no other endpoint. */
export const cursorCli: Tool = {
  id: 'cursor-cli',
  name: 'Cursor CLI',
  color: '#8A8A8A',
  description: "Cursor's coding agent for the terminal",
  docsUrl: 'https://cursor.com/docs/cli/overview',
  category: 'code',
  vendor: 'Anysphere',
  acpSpawnable: true,
  baseUrlSupport: 'partial',
  configType: 'guide',
  binaries: ['cursor-agent'],
  limitation:
    "it only uses the models of a Cursor account, and has no setting for another endpoint or a provider's key",
  recipe: { api: 'openai-chat', model: 'optional', files: [] },
  evidence: {
    package: 'cursor.com/docs/cli/reference/configuration, the whole list of its settings',
    by: 'read',
    date: '2026-11-22',
  },
};
