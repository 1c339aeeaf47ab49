import type { ModelInPath, Provider } from './provider.ts';

const at = (path: string): ModelInPath => ({
  whole: `/{model}${path}`,
  stream: `/{model}${path}`,
  without: ['model'],
});

/**
 * Models of OpenAI in SAP's generative AI hub: https://help.sap.com/docs/sap-ai-core/generative-ai/consume-generative-ai-models
 * Paths name the deployment. The address is the `AI_API_URL` of the service key, and the connection logs in with the client of
 * that key: its tenant is the host of the key's `url`.
 */
export const sapAiCore: Provider = {
  id: 'sap-ai-core',
  name: 'SAP AI Core',
  category: 'cloud',
  website: 'https://www.sap.com/products/artificial-intelligence/generative-ai-hub.html',
  documentation: 'https://help.sap.com/docs/sap-ai-core/generative-ai/consume-generative-ai-models',
  baseUrl: null,
  baseUrlOf: 'https://api.ai.{landscape}.ml.hana.ondemand.com',
  auth: { kind: 'bearer' },
  accounts: { 'client-credentials': { tokenUrl: 'https://{tenant_id}/oauth/token' } },
  formats: {
    'openai-chat': '/v2/inference/deployments',
    'openai-embeddings': '/v2/inference/deployments',
  },
  modelInPath: {
    'openai-chat': at('/chat/completions'),
    'openai-embeddings': at('/embeddings'),
  },
  query: 'api-version=2024-10-21',
  // The resource group that every account has.
  headers: { 'ai-resource-group': 'default' },
  dialect: { maxTokensField: 'max_completion_tokens', systemRole: 'developer', schema: 'openai' },
  // Deployments have ids of their own, which say nothing of their models.
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: [],
  modelsDev: 'sap-ai-core',
  offersCatalog: false,
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
