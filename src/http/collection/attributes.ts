import type { z } from 'zod';

/**
 * How the values of an attribute are compared. A `time` is ISO 8601 text that compares as the instant it names, a `map`
 * has fields of any name (`labels`), each of them a text.
 */
export type Kind = 'text' | 'number' | 'boolean' | 'time' | 'list' | 'map' | 'object';

/** The attributes that a caller may name, and what they are. A field of an object is named `health.status`. */
export type Attributes = ReadonlyMap<string, Kind>;

/**
 * The attributes of a record, from its schema.
 * @param hidden fields that the caller may not see: they are as if they did not exist
 */
export function attributesOf(record: z.ZodObject, hidden: ReadonlySet<string>): Attributes {
  const attributes = new Map<string, Kind>();
  for (const [name, member] of Object.entries(record.shape)) {
    if (hidden.has(name)) continue;
    const schema = unwrapped(member);
    const kind = kindOf(schema, name);
    attributes.set(name, kind);
    if (schema._zod.def.type !== 'object') continue;
    for (const [inner, value] of Object.entries(schema._zod.def.shape)) {
      attributes.set(`${name}.${inner}`, kindOf(unwrapped(value), inner));
    }
  }
  return attributes;
}

/** The kind of an attribute or of one field of a map (`labels.team`); undefined for what is neither. */
export function kindAt(attributes: Attributes, name: string): Kind | undefined {
  const dot = name.indexOf('.');
  const isMember = dot > 0 && dot < name.length - 1 && attributes.get(name.slice(0, dot)) === 'map';
  return attributes.get(name) ?? (isMember ? 'text' : undefined);
}

/** The value of an attribute; undefined where the row has none. The names of a map's fields may have dots in them. */
export function valueAt(row: Readonly<Record<string, unknown>>, attribute: string): unknown {
  if (Object.hasOwn(row, attribute)) return row[attribute];
  const dot = attribute.indexOf('.');
  const inner =
    dot < 0 ? undefined : Object.entries(row).find(([name]) => name === attribute.slice(0, dot))?.[1];
  if (typeof inner !== 'object' || inner === null) return undefined;
  return valueAt(inner as Record<string, unknown>, attribute.slice(dot + 1));
}

/** The schema inside of those that allow a value to be absent or null. */
export function unwrapped(schema: z.core.SomeType): z.core.$ZodTypes {
  const typedSchema = schema as z.core.$ZodTypes;
  const { def } = typedSchema._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return unwrapped(def.innerType);
    case 'pipe':
      return unwrapped(def.out);
    default:
      return typedSchema;
  }
}

function kindOf(schema: z.core.$ZodTypes, name: string): Kind {
  const { def } = schema._zod;
  switch (def.type) {
    case 'string': {
      const format = 'format' in def ? def.format : undefined;
      return format === 'datetime' || format === 'date' || /_(?:at|on)$/.test(name) ? 'time' : 'text';
    }
    case 'enum':
    case 'template_literal':
      return 'text';
    case 'literal':
      return kindOfValues(def.values);
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return 'list';
    case 'record':
      return unwrapped(def.valueType)._zod.def.type === 'string' ? 'map' : 'object';
    case 'union': {
      const [first = 'object', ...others] = def.options.map((option) => kindOf(unwrapped(option), name));
      return others.every((kind) => kind === first) ? first : 'object';
    }
    default:
      return 'object';
  }
}

function kindOfValues(values: readonly unknown[]): Kind {
  if (values.every((value) => typeof value === 'boolean')) return 'boolean';
  if (values.every((value) => typeof value === 'number')) return 'number';
  return values.every((value) => typeof value === 'string') ? 'text' : 'object';
}
