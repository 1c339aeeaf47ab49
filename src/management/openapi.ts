import { z } from 'zod';
import { needsFresh, permissions, roleHas, roles } from '../access/permissions.ts';
import type { Action, Resource } from '../http/resource.ts';
import { failures, fixedPaths, json, ref, text } from './openapi-fixed.ts';
import type { ApiDocument, JsonSchema, Operation, PathItem } from './reference.ts';
import { apiVersion } from './target.ts';

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
      ...sorted.map(({ name, summary }) => ({ name, description: summary })),
    ],
    paths: { ...fixedPaths(), ...Object.fromEntries(sorted.flatMap(pathsOf)) },
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-Auth-Token', description: 'From GET /api/auth' },
        basic: { type: 'http', scheme: 'basic', description: 'Name and password of a user' },
      },
      schemas: {
        Problem: problemSchema,
        Outcome: outcomeSchema,
        ...Object.fromEntries(sorted.map((resource) => [schemaName(resource), recordSchema(resource)])),
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
    ...{ type: text, title: text, detail: text, code: text, param: text, request_id: text },
    status: { type: 'integer' },
  },
};

const outcomeSchema: JsonSchema = {
  type: 'object',
  required: ['success', 'message'],
  properties: {
    success: { type: 'boolean' },
    ...{ message: text, href: text, task_id: text, task_href: text },
    result: { type: 'object' },
  },
};

function schemaName({ name }: Resource): string {
  return name
    .replace(/(^|[^a-z])([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
    .replace(/s$/, '');
}

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest as JsonSchema;
}

function recordSchema(resource: Resource): JsonSchema {
  const record = schemaOf(resource.record, 'output');
  return { ...record, properties: { href: { type: 'string' }, ...record.properties } };
}

/** Who may, in words: the permission, the roles that have it, and whether the password must be proven anew. */
function whoMay(permission: string): Pick<Operation, 'x-permission' | 'x-roles' | 'description'> {
  const having = roles.filter((role) => roleHas(role, permission));
  const fresh = Object.hasOwn(permissions, permission) && needsFresh(permission);
  return {
    'x-permission': permission,
    'x-roles': having,
    description: `Needs \`${permission}\`: ${having.join(', ')}.${fresh ? ' The password must have been proven within five minutes.' : ''}`,
  };
}

function operation(
  resource: Resource,
  id: string,
  summary: string,
  permission: string,
  rest: Partial<Operation> = {},
): Operation {
  return {
    operationId: `${id}_${resource.name}`,
    tags: [resource.name],
    summary,
    ...whoMay(permission),
    ...rest,
    responses: { ...(rest.responses ?? {}), ...failures },
  };
}

const listParameters = [
  ['expand', 'Show whole members with `resources`, else only their href'],
  ['attributes', 'Show only these, separated by commas'],
  ['hide', 'Show only the counts with `resources`'],
  [
    'filter[]',
    'A condition: `state = "running"`; several are joined by and, or by or where one begins with `or `',
  ],
  ['sort_by', 'Members to sort by, separated by commas'],
  ['sort_order', '`asc` or `desc`'],
  ['limit', 'At most so many, up to 1000'],
  ['offset', 'Leave out so many first'],
].map(([name = '', description = '']) => ({ name, in: 'query', description, schema: text }));

function pathsOf(resource: Resource): [string, PathItem][] {
  const item = ref(schemaName(resource));
  const { create, name, read, remove, update } = resource;
  const list: JsonSchema = {
    type: 'object',
    required: ['name', 'count', 'subcount'],
    properties: {
      ...{
        name: text,
        count: { type: 'integer' },
        subcount: { type: 'integer' },
        pages: { type: 'integer' },
      },
      resources: { type: 'array', items: item },
      links: { type: 'object' },
    },
  };
  const shown = { 200: { description: 'The member', content: json(item) } };
  const collection: PathItem = {
    get: operation(resource, 'list', `List ${name}`, read, {
      parameters: listParameters,
      responses: { 200: { description: 'The collection', content: json(list) } },
    }),
  };
  if (create !== undefined)
    collection.post = operation(resource, 'create', `Create one of ${name}`, create.permission, {
      requestBody: { required: true, content: json(schemaOf(create.input, 'input')) },
      responses: { 200: { description: 'What was made', content: json({ type: 'object' }) } },
    });
  const member: PathItem = {
    parameters: [{ name: 'id', in: 'path', required: true, description: 'Its id', schema: text }],
    get: operation(resource, 'get', `Show one of ${name}`, read, { responses: shown }),
  };
  if (update !== undefined)
    member.patch = operation(resource, 'edit', `Change one of ${name}`, update.permission, {
      requestBody: { required: true, content: json(schemaOf(update.input, 'input')) },
      responses: shown,
    });
  const actions = Object.entries(resource.actions ?? {});
  if (actions.length > 0) member.post = actOn(resource, actions);
  if (remove !== undefined)
    member.delete = operation(resource, 'delete', `Delete one of ${name}`, remove.permission, {
      responses: { 204: { description: 'It is gone' } },
    });
  return [
    [`/api/${name}`, collection],
    [`/api/${name}/{id}`, member],
  ];
}

function actOn(resource: Resource, actions: readonly [string, Action][]): Operation {
  const variants = actions.map(([action, { input, summary }]): JsonSchema => {
    const members: Record<string, JsonSchema> =
      input === undefined ? {} : { resource: schemaOf(input, 'input') };
    return {
      type: 'object',
      title: action,
      description: summary,
      required: ['action'],
      properties: { action: { const: action }, ...members },
    };
  });
  const who = actions
    .map(
      ([action, { permission, summary }]) => `- \`${action}\`: ${summary}. ${whoMay(permission).description}`,
    )
    .join('\n');
  const [first] = actions;
  return {
    ...operation(
      resource,
      'act_on',
      `Do something with one of ${resource.name}`,
      first?.[1].permission ?? '',
      {
        requestBody: { required: true, content: json({ oneOf: variants }) },
        responses: { 200: { description: 'What came of it', content: json(ref('Outcome')) } },
      },
    ),
    description: who,
    'x-actions': Object.fromEntries(actions.map(([action, { permission }]) => [action, permission])),
  };
}
