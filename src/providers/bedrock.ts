import type { Provider } from './provider.ts';

/**
 * Anthropic's models by InvokeModel: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
 * A stream comes in AWS's own frames. Keys sign each request; an API key of Bedrock goes along as a bearer token:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
 */
export const bedrock: Provider = {
  id: 'bedrock',
  name: 'Amazon Bedrock',
  category: 'cloud',
  website: 'https://aws.amazon.com/bedrock',
  documentation:
    'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html',
  baseUrl: null,
  baseUrlOf: 'https://bedrock-runtime.{region}.amazonaws.com',
  auth: { kind: 'bearer' },
  accounts: { 'aws-keys': { service: 'bedrock' } },
  formats: { 'anthropic-messages': '/model' },
  modelInPath: {
    'anthropic-messages': {
      whole: '/{model}/invoke',
      stream: '/{model}/invoke-with-response-stream',
      without: ['model', 'stream'],
      withoutHeaders: ['anthropic-version', 'anthropic-beta'],
      members: { anthropic_version: 'bedrock-2023-05-31' },
      // The page above lists them; a request with any other is refused whole.
      betas: {
        member: 'anthropic_beta',
        supported: [
          'computer-use-2024-10-22',
          'computer-use-2025-01-24',
          'token-efficient-tools-2025-02-19',
          'interleaved-thinking-2025-05-14',
          'output-128k-2025-02-19',
          'dev-full-thinking-2025-05-14',
          'context-1m-2025-08-07',
          'context-management-2025-06-27',
          'effort-2025-11-24',
          'tool-search-tool-2025-10-19',
          'tool-examples-2025-10-29',
        ],
      },
    },
  },
  dialect: { schema: 'anthropic', signedThinking: true },
  // https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
  faults: [
    { statuses: [400], pattern: /model identifier is invalid|on-demand throughput/i, kind: 'model' },
    { statuses: [424], kind: 'server' },
    { statuses: [429], pattern: /per day/i, kind: 'quota' },
    { statuses: [429], pattern: /not ready/i, kind: 'overloaded' },
  ],
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
  modelsDev: 'amazon-bedrock',
  offersCatalog: false,
  prices: 'aws',
  unpriced: 'unknown',
  suggestedModel: null,
};
