import type { Tool } from '../../tool.ts';

/** The program is the one of the agent `hermes-agent`, which has a configuration; of another one nothing was found. */
export const hermes: Tool = {
  id: 'hermes',
  name: 'Hermes',
  color: '#C9A227',
  description: 'Coding assistant of Nous Research',
  docsUrl: 'https://hermes-agent.nousresearch.com/docs',
  category: 'code',
  vendor: 'Nous Research',
  acpSpawnable: false,
  baseUrlSupport: 'none',
  configType: 'guide',
  binaries: ['hermes'],
  limitation: 'it has no configuration of its own; configure Hermes Agent instead',
  recipe: { api: 'openai-chat', model: 'optional', files: [] },
  evidence: { package: 'NousResearch/hermes-agent', by: 'read', date: '2026-11-22' },
};
