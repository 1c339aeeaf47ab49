import { z } from 'zod';
import { needsFresh, permissions, roleHas, roles } from '../../access/permissions.ts';
import type { Resource } from '../../http/resource.ts';
import { changeFailures, failures, json, ref, text } from './fixed.ts';
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

export function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest as JsonSchema;
}

/** Who may, in words: the permission, the roles that have it, and whether the password must be proven anew. */
export function whoMay(permission: string): Pick<Operation, 'x-permission' | 'x-roles' | 'description'> {
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
    responses: {
      ...(rest.responses ?? {}),
      ...(rest.requestBody !== undefined || rest.parameters === changeParameters ? changeFailures : failures),
    },
  };
}

const query = (name: string, description: string) => ({ name, in: 'query', description, schema: text });

const listParameters = [
  query('expand', 'Show whole members with `resources`, else only their href'),
  query('attributes', 'Show only these, separated by commas'),
  query('hide', 'Show only the counts with `resources`'),
  query(
    'filter[]',
    'A condition: `state = "running"`. Of several all hold, or one of those that begin with `or `',
  ),
  query('sort_by', 'Members to sort by, separated by commas'),
  query('sort_order', '`asc` or `desc`'),
  query('sort_options', '`ignore_case`'),
  query('limit', 'At most so many, up to 1000'),
  query('offset', 'Leave out so many first'),
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
const changeParameters = [query('dry_run', '`true` changes nothing and says what would be changed')];
/** Of what would be done once more if it were sent again. */
const postParameters = [
  ...changeParameters,
  {
    name: 'Idempotency-Key',
    in: 'header',
    schema: text,
    description:
      'Chosen by the caller: the same request with it is carried out once and answered alike for a day',
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
    required: ['name', 'count', 'subcount'],
    properties: {
      name: text,
      count: number,
      subcount: number,
      subquery_count: number,
      pages: number,
      resources: { type: 'array', items: ref(partName(resource)) },
      links: { type: 'object' },
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

function memberItem(resource: Resource): PathItem {
  const { name, read, remove, update } = resource;
  const member = ref(schemaName(resource));
  const shown = { anyOf: [member, ref(partName(resource))] };
  const item: PathItem = {
    parameters: [{ name: 'id', in: 'path', required: true, description: 'Its id', schema: text }],
    get: operation(resource, 'get', `Show a member of ${name}`, read, {
      parameters: [query('attributes', 'Show only these, separated by commas')],
      responses: { 200: { description: 'The member', content: json(shown) } },
    }),
  };
  if (update !== undefined) {
    const change = {
      parameters: changeParameters,
      requestBody: { required: true, content: json(schemaOf(update.input, 'input')) },
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
        200: { description: 'What would be gone, of a dry run', content: json(ref('Outcome')) },
        204: { description: 'It is gone' },
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
      `- \`${action}\`: ${summary.replace(/\.$/, '')}. ${whoMay(permission).description}`,
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
  const acting = operation(resource, 'act_on', `Do something with a member of ${resource.name}`, permission, {
    parameters: postParameters,
    requestBody: { required: true, content: json({ oneOf: variants }) },
    responses: { 200: { description: 'What came of it', content: json(done) } },
  });
  const failed = json({ anyOf: [ref('Problem'), ref('Outcome')] });
  return {
    ...acting,
    responses: { ...acting.responses, 400: { description: 'It was not done, and why', content: failed } },
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
      : [{ action: 'create', summary: `Makes a member of ${name}, also without an action`, ...create }];
  const asking = { action: 'query', summary: 'Shows several', permission: read, input: null };
  const things = [...making, asking, ...thingsDone(resource)];
  const several: JsonSchema = {
    type: 'object',
    title: 'several',
    required: ['action', 'resources'],
    properties: {
      action: { enum: things.map(({ action }) => action) },
      resources: { type: 'array', maxItems: 200, items: { type: 'object' } },
    },
  };
  const implied = things.filter(({ action }) => resource.actions?.[action]?.implied !== undefined);
  const alone = implied.map(({ action, input, summary: description }) =>
    variantOf(action, input, description),
  );
  const made = making.map(({ input }) => (input === null ? {} : schemaOf(input, 'input')));
  const answer = alone.length === 0 ? results : { anyOf: [results, ref('Outcome')] };
  const summary = create === undefined ? `Look at several members of ${name}` : `Create a member of ${name}`;
  return {
    ...operation(resource, create === undefined ? 'query' : 'create', summary, create?.permission ?? read, {
      parameters: postParameters,
      requestBody: { required: true, content: json({ oneOf: [...made, ...alone, several] }) },
      responses: {
        200: { description: 'The results', content: json(answer) },
        ...(create?.slow === true
          ? { 202: { description: 'It is being made by a task', content: json(results) } }
          : {}),
      },
    }),
    ...choices(things),
  };
}

const results: JsonSchema = {
  type: 'object',
  required: ['results'],
  properties: { results: { type: 'array', items: { type: 'object' } } },
};
