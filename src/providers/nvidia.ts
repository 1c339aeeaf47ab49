import type { Provider } from './provider.ts';

/** https://docs.api.nvidia.com/nim/reference/llm-apis */
export const nvidia: Provider = {
  id: 'nvidia',
  name: 'NVIDIA NIM',
  category: 'api-key',
  website: 'https://build.nvidia.com',
  documentation: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
  baseUrl: 'https://integrate.api.nvidia.com',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-embeddings': '/v1/embeddings',
  },
  dialect: { reasoningField: 'reasoning_content' },
  // Models are functions there: "Function '…': Not found for account '…'".
  faults: [{ statuses: [404], pattern: /\bfunction\b/i, kind: 'model' }],
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['NVIDIA_API_KEY', 'NVIDIA_NIM_API_KEY'],
  freeTier: 'https://docs.api.nvidia.com/nim/docs/product',
  modelsDev: 'nvidia',
  prices: null,
  unpriced: 'unknown',
  suggestedModel: 'openai/gpt-oss-120b',
};
