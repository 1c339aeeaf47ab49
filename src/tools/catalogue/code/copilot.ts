import type { Tool } from '../../tool.ts';

/** Copilot CLI takes its endpoint from the environment alone, and then needs no login at GitHub. */
export const copilot: Tool = {
  id: 'copilot',
  name: 'GitHub Copilot CLI',
  color: '#1F6FEB',
  description: "GitHub's coding agent for the terminal",
  docsUrl: 'https://docs.github.com/copilot/concepts/agents/about-copilot-cli',
  category: 'code',
  vendor: 'GitHub',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'env',
  binaries: ['copilot'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [],
    environment: {
      COPILOT_PROVIDER_BASE_URL: '<base_url>',
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_WIRE_API: 'completions',
      COPILOT_PROVIDER_API_KEY: '<api_key>',
      COPILOT_MODEL: '<model>',
      COPILOT_OFFLINE: 'true',
    },
  },
  evidence: { package: '@github/copilot@1.0.102', by: 'run', date: '2026-11-22' },
};
