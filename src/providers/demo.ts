import type { Provider } from './provider.ts';

/** Built in: answers inside the gateway, without network, account or cost. `.invalid` never resolves (RFC 2606). */
export const demo: Provider = {
  id: 'demo',
  name: 'Demo (built in)',
  category: 'demo',
  website: 'https://www.rfc-editor.org/rfc/rfc2606',
  documentation: 'https://github.com/openai/openai-openapi',
  baseUrl: 'http://demo.invalid',
  auth: { kind: 'none' },
  formats: {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    'openai-completions': '/v1/completions',
    'openai-embeddings': '/v1/embeddings',
    'anthropic-messages': '/v1/messages',
  },
  modelsPath: '/v1/models',
  forwardHeaders: 'standard',
  keyVariables: [],
  prices: null,
  unpriced: 'free',
  suggestedModel: 'echo',
};
