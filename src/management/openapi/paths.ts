import { z } from 'zod';
import { needsFresh, permissions, roleHas, roles } from '../../access/permissions.ts';
import type { Resource } from '../../http/resource.ts';
import { changeExamples, createExamples } from './examples/inputs.ts';
import { anyObject, changeFailures, failures, flag, json, ref, text } from './fixed.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Operation, PathItem } from './reference.ts';

/** What the schema of a collection's members is called: `Key`. */
export function schemaName({ name }: Pick<Resource, 'name'>): string {
  return name
    .replace(/(^|[^a-z])([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
    .replace(/(?<=s)es$|s$/, '');
}

/** What the schema of the shown part of such a member is called: its href alone, or the attributes asked for. */
export const partName = (resource: Resource) => `${schemaName(resource)}Part`;

/** What the schema of a result is called: the member as it is now, with what is shown once, or whether it worked. */
export const resultName = (resource: Resource) => `${schemaName(resource)}Result`;

export function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest as JsonSchema;
}

/** Who may, in words: the permission, the roles that have it, and whether the password must be proven anew. */
export function permissionText(
  permission: string,
): Pick<Operation, 'x-permission' | 'x-roles' | 'description'> {
  const having = roles.filter((role) => roleHas(role, permission));
  const fresh = Object.hasOwn(permissions, permission) && needsFresh(permission);
  return {
    'x-permission': permission,
    'x-roles': having,
    description: `Needs \`${permission}\`: ${having.join(', ')}.${fresh ? ' The password must have been entered within the last five minutes.' : ''}`,
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
    ...permissionText(permission),
    ...rest,
    responses: {
      ...(rest.responses ?? {}),
      ...(rest.requestBody !== undefined || rest.parameters === changeParameters ? changeFailures : failures),
    },
  };
}

const query = (name: string, description: string, schema: JsonSchema = text) => ({
  name,
  in: 'query',
  description,
  schema,
});

const listParameters = [
  query('expand', '`resources` shows whole members, otherwise only their href', {
    type: 'string',
    enum: ['resources'],
  }),
  query('attributes', 'Show only these fields, separated by commas'),
  query('hide', 'Show only the counts', { type: 'string', enum: ['resources'] }),
  {
    ...query(
      'filter[]',
      'Conditions: `state = "running"`. Members match all of them, or one of those that begin with `or `',
      { type: 'array', items: text, example: ["name = 'laptop'"] },
    ),
    style: 'form' as const,
    explode: true,
  },
  query('sort_by', 'Fields to sort by, separated by commas'),
  query('sort_order', '`asc` or `desc`'),
  query('sort_options', '`ignore_case` sorts texts without regard to case', {
    type: 'string',
    enum: ['ignore_case'],
  }),
  query('limit', 'The most members on the page; more than 1000 counts as 1000', {
    type: 'integer',
    minimum: 1,
    default: 1000,
  }),
  query('offset', 'The number of members to skip', { type: 'integer', minimum: 0, default: 0 }),
];
/** Those of a collection, with the names that its filters take beside the members of its records. */
function listParametersOf({ filters }: Resource) {
  if (filters === undefined) return listParameters;
  const names = [...filters.keys()].filter((name) => !name.includes('.')).map((name) => `\`${name}\``);
  return listParameters.map((parameter) =>
    parameter.name === 'filter[]'
      ? { ...parameter, description: `${parameter.description}. Also takes ${names.join(', ')}` }
      : parameter,
  );
}

/** Of all that changes something. */
const changeParameters = [query('dry_run', 'Change nothing, and show what would be changed', flag)];
/** Of what would be done once more if it were sent again. */
const postParameters = [
  ...changeParameters,
  {
    name: 'Idempotency-Key',
    in: 'header',
    schema: text,
    description:
      'Chosen by the client. A request with the same key is carried out only once within a day, and gets the same answer',
  },
];

/** The two paths of a collection, with every verb that is served there. */
export function pathsOf(resource: Resource): [string, PathItem][] {
  const { name } = resource;
  return [
    [`/api/${name}`, collectionItem(resource)],
    [`/api/${name}/{id}`, memberItem(resource)],
  ];
}

function collectionItem(resource: Resource): PathItem {
  const { name, read } = resource;
  const number: JsonSchema = { type: 'integer' };
  const list: JsonSchema = {
    type: 'object',
    description: `A page of ${name}`,
    required: ['name', 'count', 'subcount', 'pages', 'links'],
    properties: {
      name: { ...text, description: 'Of the collection', example: name },
      count: { ...number, description: 'The number of members that the client may see' },
      subcount: { ...number, description: 'The number of members on this page' },
      subquery_count: {
        ...number,
        description: 'The number of members that match the filter, if there is one',
      },
      pages: number,
      resources: { type: 'array', items: ref(partName(resource)) },
      links: linksSchema(name),
      actions: { type: 'array', items: ref('Advertised') },
    },
  };
  return {
    get: operation(resource, 'list', `List ${name}`, read, {
      parameters: listParametersOf(resource),
      responses: { 200: { description: 'The collection', content: json(list) } },
    }),
    post: postToCollection(resource),
  };
}

/** The pages around one, by their addresses. */
function linksSchema(name: string): JsonSchema {
  const link: JsonSchema = { ...text, example: `/api/${name}?offset=0` };
  return {
    type: 'object',
    required: ['self', 'first', 'last'],
    properties: { self: link, next: link, previous: link, first: link, last: link },
  };
}

function memberItem(resource: Resource): PathItem {
  const { name, read, remove, update } = resource;
  const member = ref(schemaName(resource));
  const shown = { anyOf: [member, ref(partName(resource))] };
  const item: PathItem = {
    parameters: [{ name: 'id', in: 'path', required: true, description: 'Its id', schema: text }],
    get: operation(resource, 'get', `Show a member of ${name}`, read, {
      parameters: [query('attributes', 'Show only these fields, separated by commas')],
      responses: { 200: { description: 'The member', content: json(shown) } },
    }),
  };
  if (update !== undefined) {
    const change = {
      parameters: changeParameters,
      requestBody: { required: true, content: json(schemaOf(update.input, 'input'), changeExamples[name]) },
      responses: {
        200: {
          description: 'The member as it is now, or what a dry run would change',
          content: json({ anyOf: [member, ref('Outcome')] }),
        },
      },
    };
    item.patch = operation(resource, 'edit', `Change a member of ${name}`, update.permission, change);
    item.put = operation(
      resource,
      'put',
      `Change a member of ${name}, as PATCH does`,
      update.permission,
      change,
    );
  }
  const things = thingsDone(resource);
  if (things.length > 0) item.post = postToMember(resource, things);
  if (remove !== undefined)
    item.delete = operation(resource, 'delete', `Delete a member of ${name}`, remove.permission, {
      parameters: changeParameters,
      responses: {
        200: { description: 'What a dry run would delete', content: json(ref('Outcome')) },
        204: { description: 'Deleted' },
      },
    });
  return item;
}

/** Something that `action` names. */
interface Thing {
  action: string;
  summary: string;
  permission: string;
  input: z.ZodObject | null;
}

/** What can be done to a member by POST. */
function thingsDone({ actions = {}, name, remove, update }: Resource): Thing[] {
  const things: Thing[] = Object.entries(actions).map(([action, { input = null, permission, summary }]) => ({
    action,
    input,
    permission,
    summary,
  }));
  if (update !== undefined)
    things.push({ action: 'edit', summary: `Changes a member of ${name}`, ...update });
  if (remove !== undefined)
    things.push({
      action: 'delete',
      summary: `Deletes a member of ${name}`,
      permission: remove.permission,
      input: null,
    });
  return things;
}

/** The names and permissions of what a POST can do, in words and for programs. */
function choices(things: readonly Thing[]): Pick<Operation, 'description' | 'x-actions'> {
  const lines = things.map(
    ({ action, permission, summary }) =>
      `- \`${action}\`: ${summary.replace(/\.$/, '')}. ${permissionText(permission).description}`,
  );
  return {
    description: lines.join('\n'),
    'x-actions': Object.fromEntries(things.map(({ action, permission }) => [action, permission])),
  };
}

function postToMember(resource: Resource, things: readonly Thing[]): Operation {
  const variants = things.map(({ action, input, summary }) => variantOf(action, input, summary));
  const permission = things[0]?.permission ?? '';
  // `edit` answers as PATCH does: with the member.
  const done =
    resource.update === undefined ? ref('Outcome') : { anyOf: [ref('Outcome'), ref(schemaName(resource))] };
  const acting = operation(resource, 'act_on', `Run an action on a member of ${resource.name}`, permission, {
    parameters: postParameters,
    requestBody: { required: true, content: json({ oneOf: variants }) },
    responses: { 200: { description: 'The outcome', content: json(done) } },
  });
  const failed = json({ anyOf: [ref('Problem'), ref('Outcome')] });
  return {
    ...acting,
    responses: {
      ...acting.responses,
      400: { description: 'The reason why it was not done', content: failed },
    },
    ...choices(things),
  };
}

function variantOf(action: string, input: z.ZodObject | null, description: string): JsonSchema {
  const members: Record<string, JsonSchema> = input === null ? {} : { resource: schemaOf(input, 'input') };
  return {
    type: 'object',
    title: action,
    description,
    required: ['action'],
    properties: { action: { const: action }, ...members },
  };
}

/** One is made, or the same is done to several: each has its result. */
function postToCollection(resource: Resource): Operation {
  const { create, name, read } = resource;
  const making: Thing[] =
    create === undefined
      ? []
      : [{ action: 'create', summary: `Creates a member of ${name}; also without "action"`, ...create }];
  const asking = { action: 'query', summary: 'Shows several members', permission: read, input: null };
  const things = [...making, asking, ...thingsDone(resource)];
  const several: JsonSchema = {
    type: 'object',
    title: 'several',
    required: ['action', 'resources'],
    properties: {
      action: { enum: things.map(({ action }) => action) },
      resources: { type: 'array', maxItems: 200, items: anyObject },
    },
  };
  const implied = things.filter(({ action }) => resource.actions?.[action]?.implied !== undefined);
  const alone = implied.map(({ action, input, summary: description }) =>
    variantOf(action, input, description),
  );
  const schemas = making.map(({ input }) => (input === null ? {} : schemaOf(input, 'input')));
  const results = resultsOf(resource);
  const answer = alone.length === 0 ? results : { anyOf: [results, ref('Outcome')] };
  const summary = create === undefined ? `Look at several members of ${name}` : `Create a member of ${name}`;
  return {
    ...operation(resource, create === undefined ? 'query' : 'create', summary, create?.permission ?? read, {
      parameters: postParameters,
      requestBody: {
        required: true,
        content: json({ oneOf: [...schemas, ...alone, several] }, createExamples[name]),
      },
      responses: {
        200: { description: 'The results', content: json(answer) },
        ...(create?.slow === true
          ? { 202: { description: 'A task is making it', content: json(results) } }
          : {}),
      },
    }),
    ...choices(things),
  };
}

function resultsOf(resource: Resource): JsonSchema {
  return {
    type: 'object',
    description: 'The result for each member that was named',
    required: ['results'],
    properties: { results: { type: 'array', items: ref(resultName(resource)) } },
  };
}
