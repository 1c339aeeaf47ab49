import type { Resource } from '../../http/resource.ts';
import { apiVersion } from '../api-path.ts';
import { acpAgentsPaths, acpAgentsTag } from '../openapi-acp-agents.ts';
import { cliToolsPaths, cliToolsTag } from '../openapi-cli-tools.ts';
import { eventsPaths, eventsTag } from '../openapi-events.ts';
import { fixedPaths, ref, text } from './fixed.ts';
import type { JsonSchema } from './json-schema.ts';
import { partName, pathsOf, schemaName, schemaOf } from './paths.ts';
import type { ApiDocument } from './reference.ts';

/**
 * The OpenAPI 3.1 document of the management API, made from what the engine itself works by: the resources' schemas
 * and the table of permissions.
 */
export function openApiDocument(resources: readonly Resource[], version: string): ApiDocument {
  const sorted = [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
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
      { name: 'api', description: 'What there is' },
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
          ]),
        ),
      },
      responses: {
        Problem: {
          description: 'An error: ManageIQ’s object and a problem of RFC 9457 in one',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  };
}

const problemSchema: JsonSchema = {
  type: 'object',
  required: ['error', 'type', 'title', 'status', 'detail', 'request_id'],
  properties: {
    error: {
      type: 'object',
      required: ['kind', 'message', 'klass'],
      properties: { kind: text, message: text, klass: text },
    },
    type: text,
    title: text,
    detail: text,
    code: text,
    param: text,
    request_id: text,
    status: { type: 'integer' },
  },
};

const outcomeSchema: JsonSchema = {
  type: 'object',
  required: ['success', 'message'],
  properties: {
    success: { type: 'boolean' },
    message: text,
    href: text,
    task_id: text,
    task_href: text,
    result: { type: 'object' },
  },
};

const advertisedSchema: JsonSchema = {
  type: 'object',
  description: 'Something that this caller may do here',
  required: ['name', 'method', 'href'],
  properties: { name: text, method: text, href: text },
  additionalProperties: false,
};

function recordSchema(resource: Resource): JsonSchema {
  const record = schemaOf(resource.record, 'output');
  const actions = { type: 'array', items: ref('Advertised') };
  // What a permission guards is not shown to everybody.
  const required = (record['required'] as string[] | undefined)?.filter(
    (name) => !Object.hasOwn(resource.guarded ?? {}, name),
  );
  return { ...record, required, properties: { href: text, ...record.properties, actions } };
}

function partSchema(resource: Resource): JsonSchema {
  const { required: _, ...record } = recordSchema(resource);
  return {
    ...record,
    description: 'Its href, or as much of it as was asked for with `expand` and `attributes`',
  };
}
