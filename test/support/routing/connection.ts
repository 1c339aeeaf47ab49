import type { OpenConnection } from '../../../src/connections/schema.ts';

/** A connection as it is read from a store, which works, with a key. */
export function connectionWith(patch: Partial<OpenConnection>): OpenConnection {
  return {
    id: 'con_1',
    provider: 'openai',
    name: 'work',
    authType: 'api-key',
    baseUrl: null,
    defaultModel: null,
    active: true,
    priority: 0,
    cacheMarks: true,
    billing: 'metered',
    models: null,
    modelsAt: null,
    modelsTriedAt: null,
    modelsError: null,
    status: 'ok',
    lastError: null,
    lastTestedAt: null,
    createdAt: 0,
    credential: 'secret',
    ...patch,
  };
}
