import type { Resource } from '../../http/resource.ts';
import { apiVersion } from '../api-path.ts';
import { acpAgentsPaths, acpAgentsTag } from '../openapi-acp-agents.ts';
import { cliToolsPaths, cliToolsTag } from '../openapi-cli-tools.ts';
import { eventsPaths, eventsTag } from '../openapi-events.ts';
import { withExamples } from './examples/complete.ts';
import { exampleOf } from './examples/example.ts';
import { memberExamples } from './examples/members.ts';
import { anyObject, fixedPaths, flag, ref, text } from './fixed.ts';
import type { JsonSchema } from './json-schema.ts';
import { partName, pathsOf, resultName, schemaName, schemaOf } from './paths.ts';
import type { ApiDocument } from './reference.ts';

/**
 * The OpenAPI 3.1 document of the management API, made from what the engine itself works by: the resources' schemas
 * and the table of permissions.
 */
export function openApiDocument(resources: readonly Resource[], version: string): ApiDocument {
  const sorted = [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
  return withExamples({
    openapi: '3.1.0',
    info: {
      title: 'Modelgate management API',
      version,
      summary: 'Everything about the gateway that is not a model request',
      description: `Log in with Basic at \`GET /api/auth\`, then send the token as \`X-Auth-Token\`. Each operation names the permission that it needs and the roles that have it. The API's own version is ${apiVersion}.`,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Modelgate', url: 'https://www.npmjs.com/package/modelgate' },
    },
    servers: [{ url: '/', description: 'This gateway' }],
    security: [{ token: [] }, { basic: [] }],
    tags: [
      { name: 'auth', description: 'Logging in and out' },
      { name: 'api', description: 'The entry point, live updates and this document' },
      acpAgentsTag,
      cliToolsTag,
      eventsTag,
      ...sorted.map(({ name, summary }) => ({ name, description: summary })),
    ],
    paths: {
      ...fixedPaths(),
      ...acpAgentsPaths(),
      ...cliToolsPaths(),
      ...eventsPaths(),
      ...Object.fromEntries(sorted.flatMap(pathsOf)),
    },
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token', description: 'From GET /api/auth' },
        basic: { type: 'http', scheme: 'basic', description: 'Name and password of a user' },
      },
      schemas: {
        Problem: problemSchema,
        Outcome: outcomeSchema,
        Advertised: advertisedSchema,
        ...Object.fromEntries(
          sorted.flatMap((resource) => [
            [schemaName(resource), recordSchema(resource)],
            [partName(resource), partSchema(resource)],
            [resultName(resource), resultSchema(resource)],
          ]),
        ),
      },
      responses: {
        Problem: {
          description: 'An error: ManageIQ’s object `error` and the fields of a problem (RFC 9457) together',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  });
}

const problemSchema: JsonSchema = {
  type: 'object',
  description: 'An error: ManageIQ’s object `error` and the fields of a problem (RFC 9457) together',
  required: ['error', 'type', 'title', 'status', 'detail', 'request_id'],
  properties: {
    error: {
      type: 'object',
      description: 'As in ManageIQ',
      required: ['kind', 'message', 'klass'],
      properties: { kind: text, message: text, klass: text },
    },
    type: text,
    title: { ...text, description: 'The name of the status' },
    detail: { ...text, description: 'What is wrong, and what to do' },
    code: { ...text, description: 'The code of the error', example: 'not_found' },
    param: { ...text, description: 'The field or parameter at fault', example: 'name' },
    request_id: { ...text, description: 'Also in the log and in the audit log' },
    status: { type: 'integer', description: 'The HTTP status', example: 404 },
  },
};

const outcomeProperties: Record<string, JsonSchema> = {
  success: { ...flag, description: 'Whether it was done' },
  message: { ...text, description: 'What was done, or why not', example: 'The key "laptop" is disabled' },
  href: { ...text, description: 'The member that it was done to' },
  task_id: {
    ...text,
    description: 'The task that does the rest, if it takes longer',
    example: 'task_0mwsxmv98Mwq1mxgrnZbQ',
  },
  task_href: { ...text, example: '/api/tasks/task_0mwsxmv98Mwq1mxgrnZbQ' },
  changes: {
    type: 'object',
    description: 'What a dry run would change, by field',
    additionalProperties: { type: 'object', properties: { from: {}, to: {} } },
    example: { team: { from: null, to: 'core' } },
  },
  result: { ...anyObject, description: 'What the action returns, such as a new key', example: {} },
};

const outcomeSchema: JsonSchema = {
  type: 'object',
  description: 'The result of an action',
  required: ['success', 'message'],
  properties: outcomeProperties,
  example: {
    success: true,
    message: 'The key "laptop" is disabled',
    href: '/api/keys/key_0mwsxmve8WJXZ23UIKDa5',
  },
};

const advertisedSchema: JsonSchema = {
  type: 'object',
  description: 'An action that this client may run here',
  required: ['name', 'method', 'href'],
  properties: { name: text, method: text, href: text },
  additionalProperties: false,
  example: { name: 'disable', method: 'post', href: '/api/keys/key_0mwsxmve8WJXZ23UIKDa5' },
};

function recordSchema(resource: Resource): JsonSchema {
  const record = schemaOf(resource.record, 'output');
  const actions = {
    type: 'array',
    description: 'The actions that this client may run on it',
    items: ref('Advertised'),
  };
  // What a permission guards is not shown to everybody.
  const required = (record['required'] as string[] | undefined)?.filter(
    (name) => !Object.hasOwn(resource.guarded ?? {}, name),
  );
  const shown = memberExamples[resource.name] ?? {};
  // A field that is not in the example yet has one made of its schema.
  const example = Object.fromEntries(
    Object.entries({ href: text, ...record.properties }).map(([name, schema]) => [
      name,
      Object.hasOwn(shown, name) ? shown[name] : exampleOf(schema, {}, name),
    ]),
  );
  return {
    ...record,
    required,
    properties: { href: { ...text, description: 'Its address' }, ...record.properties, actions },
    description: `A member of \`${resource.name}\`. ${resource.summary}`,
    example,
  };
}

function partSchema(resource: Resource): JsonSchema {
  const { required: _, ...record } = recordSchema(resource);
  return {
    ...record,
    description: 'Its href, or the fields that were requested with `expand` and `attributes`',
  };
}

function resultSchema(resource: Resource): JsonSchema {
  const { required: _, properties, ...record } = recordSchema(resource);
  const secret = resource.create?.secret;
  return {
    ...record,
    description:
      'The member as it is now, with secrets that are shown only this once; or the result of the action',
    properties: {
      ...outcomeProperties,
      ...properties,
      id: { ...text, description: 'Of the member; if there is none, the id in the request' },
      ...(secret === undefined ? {} : schemaOf(secret, 'output').properties),
      code: { ...text, description: 'The code of the error, if it failed', example: 'not_found' },
    },
  };
}
