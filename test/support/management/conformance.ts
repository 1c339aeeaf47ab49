import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Reply } from '../clients/client.ts';

/** A request to the management API and what answered it. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  reply: Reply;
}

interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, unknown>; $ref?: string }> }>
  >;
  components?: { responses?: Record<string, { content?: Record<string, unknown> }> };
}

/** All times of rows are written alike, so that their texts compare as they do. */
function timeFault(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const isTime = /_at$|^time$|^at$/.test(name) && typeof member === 'string';
    if (isTime && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(member)) return `${name} is ${member}`;
    const inner = isTime ? null : timeFault(member);
    if (inner !== null) return inner;
  }
  return null;
}

/** A content whose schema is that of a list or of one member. */
interface Listed {
  schema: {
    properties?: Record<string, { items?: { $ref?: string } }>;
    anyOf?: { $ref?: string }[];
  };
}

/** JSON pointer of a place in the document, as a URI's fragment. */
const pointer = (...steps: string[]) =>
  `api#/${steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/**
 * Holds answers against the API's own document: the status must stand there, the content type with it, and the body
 * must be as its schema says. Members that are shown whole must be whole: a part of one is no answer unless parts were
 * asked for. What is asked of paths that the document does not have is passed over, and so is what
 * no document describes: an event stream's text, an answer without a body.
 * @returns one line for each that differs
 */
export function differences(openapi: object, exchanges: readonly Exchange[]): string[] {
  const document = openapi as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...openapi, $id: 'api' });
  const compiled = new Map<string, ValidateFunction>();
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
  }));
  /** Literal paths before those with an id. */
  templates.sort((a, b) => Number(a.template.includes('{')) - Number(b.template.includes('{')));

  function difference({ method, path, reply }: Exchange): string | null {
    const plain = (path.split('?')[0] ?? '').replace(/^\/api\/v1\.0\.0/, '/api');
    const found = templates.find(({ pattern }) => pattern.test(plain));
    const verb = method.toLowerCase();
    const operation = found && document.paths[found.template]?.[verb];
    if (found === undefined || operation === undefined || reply.text === '') return null;
    // Said before the path is read, so in the words of the model endpoints.
    if (reply.status === 431) return null;
    const status = String(reply.status);
    const key = operation.responses[status] !== undefined ? status : 'default';
    const response = operation.responses[key];
    if (response === undefined) return `status ${status} is not documented`;
    const name = response.$ref?.split('/').at(-1);
    const content = (name === undefined ? response : document.components?.responses?.[name])?.content ?? {};
    const type = (reply.header('content-type') ?? '').split(';')[0] ?? '';
    if (content[type] === undefined) return `${status} has ${type}, documented is ${Object.keys(content)}`;
    if (type !== 'application/json') return null;
    const place =
      name === undefined
        ? pointer('paths', found.template, verb, 'responses', key, 'content', type, 'schema')
        : pointer('components', 'responses', name, 'content', type, 'schema');
    const said: unknown = JSON.parse(reply.text);
    const wrong = faultOf(place, said) ?? timeFault(said);
    if (wrong !== null) return `${status}: ${wrong}`;
    if (verb !== 'get' || reply.status !== 200) return null;
    return wholeFault(content[type] as Listed, path, said);
  }

  function faultOf(place: string, value: unknown): string | null {
    const validate = compiled.get(place) ?? ajv.compile({ $ref: place });
    compiled.set(place, validate);
    if (validate(value)) return null;
    return `${ajv.errorsText(validate.errors)}: ${JSON.stringify(value).slice(0, 300)}`;
  }

  /** What is wrong with members that were asked for whole: the document lets a part of one stand for it. */
  function wholeFault({ schema }: Listed, path: string, said: unknown): string | null {
    const query = new URLSearchParams(path.split('?')[1] ?? '');
    if (query.has('attributes')) return null;
    const listed = schema.properties?.['resources']?.items?.$ref;
    if (listed !== undefined && query.get('expand') !== 'resources') return null;
    const name = listed?.replace(/Part$/, '') ?? schema.anyOf?.[0]?.$ref;
    if (name === undefined) return null;
    const members = listed === undefined ? [said] : ((said as { resources?: unknown[] }).resources ?? []);
    const place = pointer('components', 'schemas', name.split('/').at(-1) ?? '');
    return members.map((member) => faultOf(place, member)).find((fault) => fault !== null) ?? null;
  }

  return exchanges.flatMap((exchange) => {
    const wrong = difference(exchange);
    return wrong === null ? [] : [`${exchange.method} ${exchange.path}: ${wrong}`];
  });
}
