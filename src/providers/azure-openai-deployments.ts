import type { ModelInPath, Provider } from './provider.ts';

const at = (path: string): ModelInPath => ({
  whole: `/{model}${path}`,
  stream: `/{model}${path}`,
  without: ['model'],
});

/**
 * The older API of Azure OpenAI, whose paths name the deployment: https://learn.microsoft.com/azure/ai-foundry/openai/reference
 * A base URL with `?api-version=` chooses another version than the last stable one.
 */
export const azureOpenaiDeployments: Provider = {
  id: 'azure-openai-deployments',
  name: 'Azure OpenAI (deployment paths)',
  category: 'api-key',
  website: 'https://ai.azure.com',
  baseUrl: null,
  auth: { kind: 'header', name: 'api-key' },
  accounts: {
    'client-credentials': {
      tokenUrl: 'https://login.microsoftonline.com/{tenant_id}/oauth2/v2.0/token',
      scope: 'https://cognitiveservices.azure.com/.default',
    },
  },
  login: { scopes: ['https://cognitiveservices.azure.com/.default', 'offline_access'] },
  formats: {
    'openai-chat': '/openai/deployments',
    'openai-completions': '/openai/deployments',
    'openai-embeddings': '/openai/deployments',
  },
  modelInPath: {
    'openai-chat': at('/chat/completions'),
    'openai-completions': at('/completions'),
    'openai-embeddings': at('/embeddings'),
  },
  query: 'api-version=2024-10-21',
  dialect: {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'developer',
    customTools: true,
    vendorMembers: true,
    schema: 'openai',
  },
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: 'azure',
  unpriced: 'unknown',
  suggestedModel: null,
};
