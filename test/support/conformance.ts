import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Reply } from './client.ts';

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

/** JSON pointer of a place in the document, as a URI's fragment. */
const pointer = (...steps: string[]) =>
  `api#/${steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/**
 * Holds answers against the API's own document: the status must stand there, the content type with it, and the body
 * must be as its schema says. What is asked of paths that the document does not have is passed over, and so is what
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
    const validate = compiled.get(place) ?? ajv.compile({ $ref: place });
    compiled.set(place, validate);
    if (validate(JSON.parse(reply.text))) return null;
    return `${status}: ${ajv.errorsText(validate.errors)}: ${reply.text.slice(0, 300)}`;
  }

  return exchanges.flatMap((exchange) => {
    const wrong = difference(exchange);
    return wrong === null ? [] : [`${exchange.method} ${exchange.path}: ${wrong}`];
  });
}
