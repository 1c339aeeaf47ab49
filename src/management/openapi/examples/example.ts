import type { JsonSchema } from '../json-schema.ts';

/** Texts for fields whose name says what they hold. */
const texts: Readonly<Record<string, string>> = {
  auth_token: 'mgt_3b0Yx…',
  code: 'K7QP-2M4X',
  detail: 'There is no key "ci"',
  href: '/api/keys/key_0mwsxmve8WJXZ23UIKDa5',
  id: 'key_0mwsxmve8WJXZ23UIKDa5',
  klass: 'NotFoundError',
  kind: 'not_found',
  message: 'There is no key "ci"',
  method: 'post',
  name: 'laptop',
  path: '/etc/modelgate/events.yaml',
  request_id: 'req_0mwsj3vra5mOAsufXeMZb',
  source: 'urn:modelgate:gateway',
  title: 'Not Found',
  type: 'about:blank',
  version: '0.1.0',
};

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-11-23T07:16:32.000Z',
  date: '2026-11-23',
  uri: 'https://example.com/',
  uuid: '874fc1b6-bebf-4fee-a9c9-762747d56e7a',
  cidrv4: '10.0.0.0/8',
};

/** The schemas that `$ref` may name. */
export type Components = Readonly<Record<string, JsonSchema>>;

/**
 * A value that fits a schema: its own example where it has one, else one made of the examples of its parts.
 * @param name of the field that holds it; texts go by that
 */
export function exampleOf(schema: JsonSchema, components: Components, name = ''): unknown {
  if ('example' in schema) return schema['example'];
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  if (schema.$ref !== undefined) {
    const named = components[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
    return named === undefined ? {} : exampleOf(named, components, name);
  }
  const values = schema['enum'];
  if (Array.isArray(values)) return values[0];
  const variants = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(variants)) return exampleOf(variants[0] ?? {}, components, name);
  const { type } = schema;
  const first: unknown = Array.isArray(type) ? type[0] : type;
  switch (first) {
    case 'object':
      return objectExample(schema, components);
    case 'array':
      return schema['items'] === undefined
        ? []
        : [exampleOf(schema['items'] as JsonSchema, components, name)];
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return (
        formats[String(schema['format'])] ??
        texts[name] ??
        (name.endsWith('_at') ? formats['date-time'] : 'text')
      );
    default:
      return null;
  }
}

function objectExample({ properties = {} }: JsonSchema, components: Components): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema, components, name)]),
  );
}
