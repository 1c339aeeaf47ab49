import type { JsonSchema } from './json-schema.ts';
import type { Operation, PathItem } from './reference.ts';

export const text: JsonSchema = { type: 'string' };
export const flag: JsonSchema = { type: 'boolean' };
/** An object whose fields are not known before. */
export const anyObject: JsonSchema = { type: 'object', additionalProperties: true };
export const json = (schema: JsonSchema, example?: unknown) => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const problems = (...statuses: number[]) =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: '#/components/responses/Problem' }]));
/** What any operation may answer instead. */
export const failures = problems(400, 401, 403, 404, 413, 415, 429, 500, 503);
/** What one that changes something may answer instead: also that another was first (RFC 9110, 13.1.1). */
export const changeFailures = { ...failures, ...problems(409, 412, 422) };

/** What `GET /api` answers (`management/root.ts`). */
const entryPoint: JsonSchema = {
  type: 'object',
  description: 'This gateway, the client, and the collections that it may read',
  required: [
    'name',
    'description',
    'version',
    'versions',
    'identity',
    'server_info',
    'product_info',
    'collections',
  ],
  properties: {
    name: { ...text, example: 'Modelgate' },
    description: { ...text, example: 'The management API of this gateway' },
    version: { ...text, description: 'The version of the API', example: '1.0.0' },
    versions: {
      type: 'array',
      description: 'All versions of the API that are served',
      items: objectOf({ name: { ...text, example: '1.0.0' }, href: { ...text, example: '/api/v1.0.0' } }),
    },
    identity: {
      ...objectOf({
        userid: { ...text, example: 'admin' },
        name: { ...text, example: 'admin' },
        role: { type: 'string', enum: ['admin', 'operator', 'viewer'] },
        via: { type: 'string', enum: ['token', 'basic', 'automation', 'local'] },
      }),
      description: 'The user, and how they logged in',
    },
    server_info: {
      ...objectOf({ version: text, time: { type: 'string', format: 'date-time' } }),
      description: 'The gateway’s version and its time',
    },
    product_info: objectOf({
      name: { ...text, example: 'Modelgate' },
      documentation: { ...text, example: '/api/docs' },
    }),
    collections: {
      type: 'array',
      items: objectOf({
        name: { ...text, example: 'keys' },
        href: { ...text, example: '/api/keys' },
        description: { ...text, example: 'Keys with which tools and programs use models' },
      }),
    },
  },
};

/** An object that has all of these fields. */
function objectOf(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties };
}

const token: JsonSchema = {
  type: 'object',
  description: 'A token, which is sent as `X-Auth-Token` until it expires',
  required: ['auth_token', 'expires_on', 'token_ttl'],
  properties: {
    auth_token: text,
    expires_on: { type: 'string', format: 'date-time' },
    token_ttl: { type: 'integer', description: 'Seconds', example: 600 },
    requester_type: { type: 'string', enum: ['api', 'ui', 'ws'] },
  },
};
const setup: JsonSchema = {
  type: 'object',
  description: 'The setup code, and the password of the first admin',
  required: ['code', 'password'],
  properties: { code: text, password: { ...text, example: 'a long secret of the admin' } },
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
/** The address to which a provider’s login page sends the browser back. */
const finishLogin: Operation = {
  operationId: 'finish_login',
  summary: 'Where a browser comes back to from a login at a provider',
  description: 'The address to which a provider’s login page sends the browser back.',
  tags: ['api'],
  security: [],
  parameters: ['state', 'code', 'error', 'iss'].map((name) => ({
    name,
    in: 'query',
    schema: text,
    description: 'As sent by the provider',
  })),
  responses: {
    200: { description: 'An HTML page', content: { 'text/html': { schema: text } } },
    400: { description: 'An HTML page', content: { 'text/html': { schema: text } } },
    ...notMalformed,
  },
};

/** Where a receiver of webhooks consents to being sent events. */
const consent = (method: string): Operation => ({
  operationId: `${method}_webhook_consent`,
  summary: 'The address at which a receiver of webhooks consents later',
  description:
    'The gateway tells the address, with its key, in `WebHook-Request-Callback`. The header `WebHook-Allowed-Rate` says how many events a minute.',
  tags: ['events'],
  security: [],
  parameters: ['id', 'key'].map((name) => ({
    name,
    in: 'query',
    schema: text,
    description: 'As in the address in `WebHook-Request-Callback`',
  })),
  responses: { 204: { description: 'The gateway may send events' }, ...notMalformed },
});

/** The paths that are no collections. */
export function fixedPaths(): Record<string, PathItem> {
  return {
    '/api': {
      get: plain('entry_point', 'The entry point: this gateway, the caller, and the collections', entryPoint),
    },
    '/api/auth': {
      get: {
        ...plain('log_in', 'Get a token for a name and a password, or a new one for a token', token, 'auth'),
        parameters: [
          {
            name: 'requester_type',
            in: 'query',
            description: 'What the token is for: `ui` lives longer, `ws` opens WebSockets only',
            schema: { type: 'string', enum: ['api', 'ui', 'ws'] },
          },
        ],
      },
      delete: {
        operationId: 'log_out',
        summary: 'End the token of this request',
        tags: ['auth'],
        description: 'End the token of this request.',
        responses: { 204: { description: 'Deleted' }, ...failures },
      },
    },
    '/api/setup': {
      post: {
        ...plain(
          'set_up',
          'Create the first admin with the setup code that the server prints',
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
    '/api/events/consent': { get: consent('get'), post: consent('post') },
    '/api/live': {
      get: {
        operationId: 'watch',
        summary: 'Live updates, as server-sent events',
        tags: ['api'],
        description:
          'Each event has a topic (`event`), a number (`id`) and JSON (`data`). `requests` sends each finished request; if several gateways share a database and Redis, also those of other gateways, with the gateway’s name in `node`. `services` sends a service whose state changed, and `logs` sends lines of the log of this gateway. The stream ends when the login does.',
        parameters: [
          {
            name: 'topics',
            in: 'query',
            description:
              'Some of `requests`, `services` and `logs`, separated by commas; by default all that the client may see',
            schema: text,
          },
          {
            name: 'since',
            in: 'query',
            description:
              'The id of the last event that the client received, as in the header `Last-Event-ID`. The stream begins after that event, with at most 500 earlier events',
            schema: text,
          },
        ],
        responses: {
          200: { description: 'Events', content: { 'text/event-stream': { schema: text } } },
          ...failures,
        },
      },
    },
    '/api/openapi.json': { get: plain('openapi', 'This document', anyObject) },
    '/api/docs': {
      get: {
        operationId: 'docs',
        summary: 'This document for people',
        tags: ['api'],
        description: 'This document as an HTML page.',
        parameters: [
          {
            name: 'q',
            in: 'query',
            description: 'Show the operations that contain these words',
            schema: text,
          },
        ],
        responses: {
          200: { description: 'A page', content: { 'text/html': { schema: text } } },
          ...failures,
        },
      },
    },
  };
}
