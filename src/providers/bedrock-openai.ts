import type { Provider } from './provider.ts';

/** Models that Bedrock offers in OpenAI's format: https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html */
export const bedrockOpenai: Provider = {
  id: 'bedrock-openai',
  name: 'Amazon Bedrock (chat completions)',
  category: 'cloud',
  website: 'https://aws.amazon.com/bedrock',
  documentation: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html',
  baseUrl: null,
  baseUrlOf: 'https://bedrock-runtime.{region}.amazonaws.com',
  auth: { kind: 'bearer' },
  accounts: { 'aws-keys': { service: 'bedrock' } },
  formats: { 'openai-chat': '/openai/v1/chat/completions' },
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: [],
  modelsDev: 'amazon-bedrock',
  offersCatalog: false,
  prices: 'aws',
  unpriced: 'unknown',
  suggestedModel: null,
};
