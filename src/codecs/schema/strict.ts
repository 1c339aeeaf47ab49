import { isObject, type JsonObject } from '../json/values.ts';
import { mapInner, typesOf } from './keywords.ts';

/** `'uri' is not a valid format` (can1357/oh-my-pi#206): these are, by OpenAI's guide "Structured outputs". */
const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);

/**
 * Whether a schema may be sent with `strict: true`: every object closed, every property required, nothing of
 * `refused`, and an object at the root.
 */
export function isStrict(root: JsonObject, refused: ReadonlySet<string>): boolean {
  if (!typesOf(root).includes('object') || 'anyOf' in root || 'enum' in root) return false;
  let strict = true;
  const visit = (schema: unknown): unknown => {
    if (!strict) return schema;
    if (!isObject(schema)) {
      strict = false;
      return schema;
    }
    strict = isStrictHere(schema, refused);
    // A closed object's `additionalProperties` is no schema.
    return mapInner(schema, (inner, keyword) => (keyword === 'additionalProperties' ? inner : visit(inner)));
  };
  visit(root);
  return strict;
}

function isStrictHere(schema: JsonObject, refused: ReadonlySet<string>): boolean {
  const { additionalProperties, format, properties, required } = schema;
  if (Object.keys(schema).some((key) => refused.has(key))) return false;
  if (format !== undefined && !formats.has(format)) return false;
  if (!typesOf(schema).includes('object') && properties === undefined) return true;
  if (additionalProperties !== false || (properties !== undefined && !isObject(properties))) return false;
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.keys(properties ?? {}).every((name) => needed.has(name));
}
