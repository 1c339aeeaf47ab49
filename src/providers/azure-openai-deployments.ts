import { azure } from './azure.ts';
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
  ...azure,
  id: 'azure-openai-deployments',
  name: 'Azure OpenAI (deployment paths)',
  documentation: 'https://learn.microsoft.com/azure/ai-foundry/openai/reference',
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
  keyVariables: [],
  modelsDev: 'azure',
  offersCatalog: false,
};
