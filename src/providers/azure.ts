import type { Provider } from './provider.ts';

const scope = 'https://cognitiveservices.azure.com/.default';

/** What both APIs of Azure OpenAI have in common. Each connection names its resource, https://NAME.openai.azure.com. */
export const azure = {
  category: 'cloud',
  website: 'https://ai.azure.com',
  baseUrl: null,
  baseUrlOf: 'https://{resource}.openai.azure.com',
  auth: { kind: 'header', name: 'api-key' },
  // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/managed-identity
  accounts: {
    'client-credentials': {
      tokenUrl: 'https://login.microsoftonline.com/{tenant_id}/oauth2/v2.0/token',
      scope,
    },
  },
  login: { scopes: [scope, 'offline_access'] },
  dialect: {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'developer',
    customTools: true,
    vendorFields: true,
    textParts: true,
    strictMessages: true,
    schema: 'openai',
  },
  // Models are deployments, which the key cannot list.
  modelsPath: null,
  forwardHeaders: 'standard',
  prices: 'azure',
  unpriced: 'unknown',
  suggestedModel: null,
} as const satisfies Partial<Provider>;
