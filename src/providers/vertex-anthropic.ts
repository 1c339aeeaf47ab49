import type { Provider } from './provider.ts';

/** Anthropic's models on Google's cloud: https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai */
export const vertexAnthropic: Provider = {
  id: 'vertex-anthropic',
  name: 'Anthropic on Google Vertex AI',
  category: 'cloud',
  website: 'https://cloud.google.com/vertex-ai',
  documentation: 'https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai',
  baseUrl: null,
  baseUrlOf: 'https://aiplatform.googleapis.com/v1/projects/{project_id}/locations/global',
  auth: { kind: 'bearer' },
  accounts: { 'service-account': { scope: 'https://www.googleapis.com/auth/cloud-platform' } },
  login: {
    issuer: 'https://accounts.google.com',
    scopes: ['https://www.googleapis.com/auth/cloud-platform'],
    parameters: { access_type: 'offline', prompt: 'consent' },
  },
  formats: { 'anthropic-messages': '/publishers/anthropic/models' },
  modelInPath: {
    'anthropic-messages': {
      whole: '/{model}:rawPredict',
      stream: '/{model}:streamRawPredict',
      without: ['model'],
      withoutHeaders: ['anthropic-version'],
      members: { anthropic_version: 'vertex-2023-10-16' },
    },
  },
  dialect: { schema: 'anthropic', signedThinking: true },
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: [],
  modelsDev: 'google-vertex-anthropic',
  offersCatalog: false,
  prices: 'google',
  unpriced: 'unknown',
  suggestedModel: null,
};
