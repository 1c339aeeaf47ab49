import { azure } from './azure.ts';
import type { Provider } from './provider.ts';

/**
 * The v1 API: https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
 */
export const azureOpenai: Provider = {
  ...azure,
  id: 'azure-openai',
  name: 'Azure OpenAI',
  documentation: 'https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle',
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
  // https://learn.microsoft.com/azure/foundry/reference/rest/compactconversation
  compacts: ['endpoint'],
  keepsResponses: true,
  // A deployment that was made a moment ago is not there yet: https://learn.microsoft.com/azure/ai-services/openai/how-to/create-resource
  faults: [{ statuses: [404], pattern: /DeploymentNotFound|OperationNotSupported/i, kind: 'model' }],
  limitsPerModel: true,
  keyVariables: ['AZURE_OPENAI_API_KEY'],
  modelsDev: 'azure',
  offersCatalog: false,
};
