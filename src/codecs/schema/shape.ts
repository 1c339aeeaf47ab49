import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject, objectOf } from '../json/values.ts';
import { replaced, type TypeName, typeOfKeyword, typeOfValue, typesOf, without } from './keywords.ts';
import { type Lost, mergeAll } from './merge.ts';
import { accepts, type SchemaRules } from './rules.ts';

/*
 * Steps that say one schema in the words of the target. Each looks at the schema itself and not at those inside,
 * gives the same schema back when there is nothing to do, and is done once when done twice.
 */

/** A schema that is true or false, or invalid. */
export function asSchema(schema: unknown): JsonObject {
  if (isObject(schema)) return schema;
  return schema === false ? { not: {} } : {};
}

const kinds: ReadonlyMap<string, string> = new Map([
  ...['description', 'title', 'format', 'pattern', '$ref'].map((key) => [key, 'string'] as const),
  ...[
    'minimum',
    'maximum',
    'multipleOf',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
  ].map((key) => [key, 'number'] as const),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly', 'nullable'].map(
    (key) => [key, 'boolean'] as const,
  ),
]);

function kindOf(value: unknown): string {
  return numberOf(value) === null ? typeof value : 'number';
}

/** Keywords whose value is of the wrong kind say nothing, and servers answer them with 400: `required: null`. */
export function wellFormed(schema: JsonObject): JsonObject {
  const wrong = Object.entries(schema).filter(([key, value]) => {
    const kind = kinds.get(key);
    if (kind !== undefined) return kindOf(value) !== kind;
    if (key === 'properties') return !isObject(value);
    if (key === 'required') return !Array.isArray(value);
    if (key === 'anyOf' || key === 'oneOf' || key === 'allOf' || key === 'enum')
      return !Array.isArray(value) || value.length === 0;
    if (key === 'type') return typesOf(schema).length === 0;
    return false;
  });
  return wrong.length === 0 ? schema : without(schema, ...wrong.map(([key]) => key));
}

/** The schema without properties and choices that no value can be, for targets that have no word for them. */
export function possible(schema: JsonObject, rules: SchemaRules): JsonObject {
  if (accepts(rules, 'not')) return schema;
  let result = schema;
  const { properties } = result;
  if (isObject(properties) && Object.values(properties).includes(false)) {
    const others = Object.entries(properties).filter(([, inner]) => inner !== false);
    result = withKey(result, 'properties', Object.fromEntries(others));
  }
  for (const key of ['anyOf', 'oneOf'] as const) {
    const branches = result[key];
    if (!Array.isArray(branches) || !branches.includes(false)) continue;
    const others = branches.filter((branch) => branch !== false);
    result = others.length === 0 ? without(result, key) : withKey(result, key, others);
  }
  return result;
}

function isNullAlone(branch: unknown): boolean {
  const { const: value, enum: values, type } = objectOf(branch);
  return (
    value === null ||
    type === 'null' ||
    (Array.isArray(values) && values.every((one) => one === null) && values.length > 0)
  );
}

/** Types in lower case, a single one as a string, with null among them if `nullable` is set. */
export function plainTypes(schema: JsonObject): JsonObject {
  const types: string[] = typesOf(schema);
  const { anyOf, nullable, ...rest } = schema;
  if (types.length === 0) {
    // Nothing but null is null already.
    if (nullable === true && Array.isArray(anyOf) && anyOf.every(isNullAlone))
      return without(schema, 'nullable');
    if (nullable === true && Array.isArray(anyOf)) return { ...rest, anyOf: [...anyOf, { type: 'null' }] };
    if (nullable === undefined) return schema;
    const values = rest['enum'];
    if (nullable !== true || !Array.isArray(values) || values.includes(null))
      return without(schema, 'nullable');
    return { ...without(schema, 'nullable'), enum: [...values, null] };
  }
  const all = nullable === true && !types.includes('null') ? [...types, 'null'] : types;
  const type = all.length === 1 ? all[0] : all;
  return withKey(without(schema, 'nullable'), 'type', type);
}

/** The schema with another value of a keyword that it has. */
export function withKey(schema: JsonObject, key: string, value: unknown): JsonObject {
  return replaced(schema, key, key, value);
}

/** The parts of `allOf` in the schema itself, however deep they stand in each other. */
export function merged(
  schema: JsonObject,
  lost: Lost,
  resolved: (part: JsonObject) => JsonObject = (part) => part,
): JsonObject {
  if (!Array.isArray(schema['allOf'])) return schema;
  const parts: JsonObject[] = [];
  const seen = new Set<unknown>();
  const waiting: unknown[] = [schema];
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    if (!isObject(part) || seen.has(part['$ref'])) continue;
    // What leads back to itself holds nothing more the second time.
    if (typeof part['$ref'] === 'string') seen.add(part['$ref']);
    const { allOf, ...own } = resolved(part);
    parts.push(own);
    if (Array.isArray(allOf)) waiting.unshift(...allOf);
  }
  return mergeAll(parts, lost);
}

/** `const` as an `enum` of one value; `oneOf` as `anyOf`, for which of two fits is seldom in doubt. */
export function renamed(schema: JsonObject, rules: SchemaRules): JsonObject {
  let result = schema;
  if ('const' in result && !accepts(rules, 'const'))
    result = 'enum' in result ? result : replaced(result, 'const', 'enum', [result['const']]);
  if ('oneOf' in result && !('anyOf' in result) && !accepts(rules, 'oneOf'))
    result = replaced(result, 'oneOf', 'anyOf', result['oneOf']);
  return result;
}

/** Bounds of whole numbers without `exclusive`, and the form of draft 4, where it was true or false. */
export function inclusive(schema: JsonObject, rules: SchemaRules, lost: Lost): JsonObject {
  let result = schema;
  for (const [exclusive, bound, step] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    if (typeof result[exclusive] === 'boolean') {
      const applies = result[exclusive] && numberOf(result[bound]) !== null;
      result = applies ? replaced(result, bound, exclusive, result[bound]) : without(result, exclusive);
    }
    const value = numberOf(result[exclusive]);
    if (value === null || accepts(rules, exclusive) || !accepts(rules, bound)) continue;
    const types = typesOf(result);
    const integral = types.includes('integer') && !types.includes('number');
    const whole = integral && Number.isSafeInteger(Math.floor(value));
    if (!whole) lost.add(exclusive);
    const least = whole ? (step === 1 ? Math.floor(value) + 1 : Math.ceil(value) - 1) : value;
    const other = numberOf(result[bound]);
    const isTighter = other === null || (step === 1 ? least > other : least < other);
    const written = whole ? least : result[exclusive];
    result = replaced(result, exclusive, bound, isTighter ? written : result[bound]);
  }
  return result;
}

/** The list of `items` of older drafts as `prefixItems`; both as `anyOf` of what they list where neither is known. */
export function tuples(schema: JsonObject, rules: SchemaRules, lost: Lost): JsonObject {
  let result = schema;
  if (Array.isArray(result['items'])) {
    const { additionalItems, ...rest } = replaced(result, 'items', 'prefixItems', result['items']);
    result = additionalItems === undefined ? rest : { ...rest, items: additionalItems };
  }
  const listed = result['prefixItems'];
  if (Array.isArray(listed) && result['items'] === false) {
    const { maxItems, ...open } = without(result, 'items');
    result = {
      ...open,
      maxItems: Math.min(numberOf(maxItems) ?? listed.length, listed.length),
    };
  }
  if (!Array.isArray(listed) || accepts(rules, 'prefixItems')) return result;
  lost.add('prefixItems');
  const { items, maxItems } = result;
  const open = (numberOf(maxItems) ?? Number.POSITIVE_INFINITY) > listed.length;
  const all = open ? [...listed, items ?? {}] : listed;
  const kinds = [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  const any = kinds.some((one) => one === true || (isObject(one) && Object.keys(one).length === 0));
  return replaced(
    result,
    'prefixItems',
    'items',
    any ? {} : kinds.length === 1 ? kinds[0] : { anyOf: kinds },
  );
}

/** The types of a schema without `type`, inferred from its other keywords; empty if they show none. */
function inferredTypes(schema: JsonObject): TypeName[] {
  if (Array.isArray(schema['enum'])) return enumTypes(schema['enum']);
  if ('const' in schema) return enumTypes([schema['const']]);
  const impliedTypes = Object.keys(schema).flatMap((key) => typeOfKeyword.get(key) ?? []);
  return [...new Set(impliedTypes)];
}

function enumTypes(values: readonly unknown[]): TypeName[] {
  const types = [...new Set(values.map(typeOfValue))];
  return types.includes('number') ? types.filter((type) => type !== 'integer') : types;
}

/** The types of any value, for a target that requires a type. */
const anyTypes: readonly TypeName[] = ['string', 'number', 'boolean', 'object', 'array'];

/** The schema with a type: that of an implied object or array for every target, any other for some targets. */
export function typed(schema: JsonObject, rules: SchemaRules): JsonObject {
  if (['type', 'anyOf', 'oneOf', 'allOf', '$ref'].some((key) => key in schema)) return schema;
  const impliedTypes = inferredTypes(schema);
  const [only] = impliedTypes;
  const isListed = 'enum' in schema || 'const' in schema;
  if (!rules.typed)
    return impliedTypes.length === 1 && !isListed && (only === 'object' || only === 'array')
      ? { type: only, ...schema }
      : schema;
  const types = impliedTypes.length > 0 ? impliedTypes : anyTypes;
  return { type: types.length === 1 ? types[0] : [...types], ...schema };
}
