import type { Tool } from '../../tool.ts';

/**
 * Warp keeps endpoints and their keys in the key store of the system, where only Warp can put them. Its servers send
 * the requests, so they must be able to reach the gateway.
 */
export const warp: Tool = {
  id: 'warp',
  name: 'Warp',
  color: '#01A4FF',
  description: 'Terminal with agents',
  docsUrl: 'https://docs.warp.dev/agents/inference/custom-inference-endpoint',
  category: 'agent',
  vendor: 'Warp Inc.',
  acpSpawnable: true,
  baseUrlSupport: 'partial',
  configType: 'guide',
  binaries: ['warp-terminal'],
  limitation:
    "Requests come from Warp's servers: the gateway needs a public address, and localhost is refused",
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [],
    steps: [
      'In Warp open Settings, AI, Custom Inference, and choose "Add custom endpoint".',
      'Name: Modelgate. Schema: OpenAI Chat Completions. URL: <base_url>',
      'API key: the gateway key.',
      'Model: <model>. Then choose it in the list of models of an agent.',
    ],
  },
  evidence: { package: 'warpdotdev/warp@19548aec', by: 'read', date: '2026-11-22' },
};
