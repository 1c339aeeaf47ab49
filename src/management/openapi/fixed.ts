import type { JsonSchema } from './json-schema.ts';
import type { Operation, PathItem } from './reference.ts';

export const text: JsonSchema = { type: 'string' };
export const json = (schema: JsonSchema) => ({ 'application/json': { schema } });
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const problems = (...statuses: number[]) =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: '#/components/responses/Problem' }]));
/** What any operation may answer instead. */
export const failures = problems(400, 401, 403, 404, 406, 413, 415, 429, 500, 503);
/** What one that changes something may answer instead: also that another was first (RFC 9110, 13.1.1). */
export const changeFailures = { ...failures, ...problems(409, 412, 422) };

const token: JsonSchema = {
  type: 'object',
  required: ['auth_token', 'expires_on', 'token_ttl'],
  properties: {
    auth_token: text,
    expires_on: { type: 'string', format: 'date-time' },
    token_ttl: { type: 'integer', description: 'Seconds' },
    requester_type: text,
  },
};
const setup: JsonSchema = {
  type: 'object',
  required: ['code', 'password'],
  properties: { code: text, password: text },
};

/** An operation that answers JSON. */
const plain = (
  operationId: string,
  summary: string,
  schema: JsonSchema,
  tag = 'api',
  wrong = failures,
): Operation => ({
  operationId,
  summary,
  description: `${summary}.`,
  tags: [tag],
  responses: { 200: { description: 'The answer', content: json(schema) }, ...wrong },
});

const { 400: _, ...notMalformed } = failures;
/** Where a browser comes back to from a login at a provider. */
const finishLogin: Operation = {
  operationId: 'finish_login',
  summary: 'Where a browser comes back to from a login at a provider',
  description: 'Where a browser comes back to from a login at a provider.',
  tags: ['api'],
  security: [],
  parameters: ['state', 'code', 'error', 'iss'].map((name) => ({
    name,
    in: 'query',
    schema: text,
    description: 'As the provider gives it',
  })),
  responses: {
    200: { description: 'A page for people', content: { 'text/html': { schema: text } } },
    400: { description: 'A page for people', content: { 'text/html': { schema: text } } },
    ...notMalformed,
  },
};

/** The paths that are no collections. */
export function fixedPaths(): Record<string, PathItem> {
  return {
    '/api': { get: plain('entry_point', 'What this is, who asks, and what there is', { type: 'object' }) },
    '/api/auth': {
      get: {
        ...plain('log_in', 'Get a token for a name and a password, or a new one for a token', token, 'auth'),
        parameters: [
          { name: 'requester_type', in: 'query', description: '`api`, `ui` or `ws`', schema: text },
        ],
      },
      delete: {
        operationId: 'log_out',
        summary: 'End the token of this request',
        tags: ['auth'],
        description: 'End the token of this request.',
        responses: { 204: { description: 'It is gone' }, ...failures },
      },
    },
    '/api/setup': {
      post: {
        ...plain(
          'set_up',
          'Make the first admin, with the code that the server prints',
          ref('Outcome'),
          'auth',
          changeFailures,
        ),
        requestBody: { required: true, content: json(setup) },
        security: [],
      },
    },
    '/api/ping': {
      get: {
        operationId: 'ping',
        summary: 'Whether the API answers',
        tags: ['api'],
        security: [],
        description: 'Whether the API answers.',
        responses: {
          200: { description: '`pong`', content: { 'text/plain': { schema: text } } },
          ...failures,
        },
      },
    },
    '/api/oauth/callback': { get: finishLogin },
    '/api/live': {
      get: {
        operationId: 'watch',
        summary: 'What happens, as server-sent events',
        tags: ['api'],
        description: 'What happens, as server-sent events.',
        parameters: [
          { name: 'topics', in: 'query', description: '`requests`, `services`, `logs`', schema: text },
          { name: 'since', in: 'query', description: 'The id of the last event that was seen', schema: text },
        ],
        responses: {
          200: { description: 'Events', content: { 'text/event-stream': { schema: text } } },
          ...failures,
        },
      },
    },
    '/api/openapi.json': { get: plain('openapi', 'This document', { type: 'object' }) },
    '/api/docs': {
      get: {
        operationId: 'docs',
        summary: 'This document for people',
        tags: ['api'],
        description: 'This document for people.',
        responses: {
          200: { description: 'A page', content: { 'text/html': { schema: text } } },
          ...failures,
        },
      },
    },
  };
}
