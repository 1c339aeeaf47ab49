import type { Provider } from './provider.ts';

/**
 * Google's models on its cloud: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
 * The address names project and location; a service account contains its project, and `global` is the usual location. A
 * plain key is one of Vertex's express mode, whose address has neither.
 */
export const vertex: Provider = {
  id: 'vertex',
  name: 'Google Vertex AI',
  category: 'cloud',
  website: 'https://cloud.google.com/vertex-ai',
  documentation: 'https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference',
  baseUrl: null,
  baseUrlOf: 'https://aiplatform.googleapis.com/v1/projects/{project_id}/locations/global',
  auth: { kind: 'header', name: 'x-goog-api-key' },
  accounts: { 'service-account': { scope: 'https://www.googleapis.com/auth/cloud-platform' } },
  login: {
    issuer: 'https://accounts.google.com',
    scopes: ['https://www.googleapis.com/auth/cloud-platform'],
    // Google gives a refresh token only when it is asked for like this.
    parameters: { access_type: 'offline', prompt: 'consent' },
  },
  formats: { gemini: '/publishers/google/models' },
  dialect: {
    schema: 'gemini-chat',
    vendorFields: true,
    googleSignatures: true,
    strictMessages: true,
    // It takes the tier in a header, and refuses the field.
    fieldNames: { serviceTier: null },
  },
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: [],
  modelsDev: 'google-vertex',
  offersCatalog: false,
  prices: 'google',
  unpriced: 'unknown',
  suggestedModel: null,
};
