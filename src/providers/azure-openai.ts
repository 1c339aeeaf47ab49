import type { Provider } from './provider.ts';

/**
 * The v1 API: https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
 * Each connection names its resource, https://NAME.openai.azure.com. Models are deployments, which the key cannot list.
 */
export const azureOpenai: Provider = {
  id: 'azure-openai',
  name: 'Azure OpenAI',
  category: 'api-key',
  website: 'https://ai.azure.com',
  baseUrl: null,
  auth: { kind: 'header', name: 'api-key' },
  // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/managed-identity
  accounts: {
    'client-credentials': {
      tokenUrl: 'https://login.microsoftonline.com/{tenant_id}/oauth2/v2.0/token',
      scope: 'https://cognitiveservices.azure.com/.default',
    },
  },
  login: { scopes: ['https://cognitiveservices.azure.com/.default', 'offline_access'] },
  formats: {
    'openai-chat': '/openai/v1/chat/completions',
    'openai-responses': '/openai/v1/responses',
    'openai-embeddings': '/openai/v1/embeddings',
    'openai-images': '/openai/v1/images/generations',
    'openai-image-edits': '/openai/v1/images/edits',
    'openai-speech': '/openai/v1/audio/speech',
    'openai-transcriptions': '/openai/v1/audio/transcriptions',
    'openai-translations': '/openai/v1/audio/translations',
  },
  // Reasoning comes back between the turns of a tool loop in this format only.
  preferred: 'openai-responses',
  dialect: {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'developer',
    customTools: true,
    vendorMembers: true,
    schema: 'openai',
  },
  // https://learn.microsoft.com/azure/foundry/reference/rest/compactconversation
  compacts: ['endpoint'],
  keepsResponses: true,
  // A deployment that was made a moment ago is not there yet: https://learn.microsoft.com/azure/ai-services/openai/how-to/create-resource
  faults: [{ statuses: [404], says: /DeploymentNotFound|OperationNotSupported/i, kind: 'model' }],
  limitsPerModel: true,
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: ['AZURE_OPENAI_API_KEY'],
  prices: 'azure',
  unpriced: 'unknown',
  suggestedModel: null,
};
