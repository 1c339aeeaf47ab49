import { isObject, type JsonObject } from '../json/values.ts';
import { withDescribedConstraints } from './described-constraints.ts';
import { annotations, typeOfKeyword, typeOfValue, typesOf, without } from './keywords.ts';
import { type Lost, mergeAll } from './merge.ts';
import type { SchemaRules } from './rules.ts';
import { asSchema, merged, plainTypes, wellFormed, withKey } from './shape.ts';

/**
 * For targets that support one type per schema: several types as `anyOf`, and null in the target's own notation.
 * @param plain says a schema in the target's keywords
 */
export function oneType(
  schema: JsonObject,
  rules: SchemaRules,
  lost: Lost,
  plain: (schema: JsonObject) => JsonObject,
): JsonObject {
  if (rules.types === 'list') return schema;
  let { nullable, rest } = withoutNull(schema);
  for (let turn = 0; turn < MAX_WRAPPED; turn += 1) {
    const { anyOf } = rest;
    if (!Array.isArray(anyOf) || anyOf.length !== 1) break;
    // A union of one is that one.
    const only = mergeAll([without(rest, 'anyOf'), plainTypes(asSchema(anyOf[0]))], lost);
    const inner = withoutNull(plain(only));
    rest = inner.rest;
    nullable ||= inner.nullable;
  }
  const single = split(rest);
  if (!nullable) return single;
  if (rules.nulls === 'keyword') return { ...single, nullable: true };
  const branch = { type: 'null' };
  if (Array.isArray(single['anyOf'])) return { ...single, anyOf: [...single['anyOf'], branch] };
  const words = Object.entries(single).filter(([key]) => annotations.has(key) && key !== 'format');
  const own = Object.entries(single).filter(([key]) => !annotations.has(key) || key === 'format');
  return { ...Object.fromEntries(words), anyOf: [Object.fromEntries(own), branch] };
}

/** Null taken out of the types, the enumerated values and the branches. A schema of nothing but null stays. */
function withoutNull(schema: JsonObject): { rest: JsonObject; nullable: boolean } {
  let rest = schema;
  let nullable = rest['nullable'] === true;
  const types = typesOf(rest);
  if (types.length > 1 && types.includes('null')) {
    const others = types.filter((type) => type !== 'null');
    rest = withKey(rest, 'type', others.length === 1 ? others[0] : others);
    nullable = true;
  }
  const { anyOf, enum: values } = rest;
  if (Array.isArray(values) && values.includes(null) && values.some((value) => value !== null)) {
    // Where the type has no null, the value can never come.
    nullable ||= types.length === 0 || types.includes('null');
    rest = withKey(
      rest,
      'enum',
      values.filter((value) => value !== null),
    );
  }
  if (Array.isArray(anyOf) && anyOf.length > 1) {
    const others = anyOf.filter((branch) => !isNull(branch));
    if (others.length > 0 && others.length < anyOf.length) {
      rest = withKey(rest, 'anyOf', others);
      nullable = true;
    }
  }
  return { rest: 'nullable' in rest ? without(rest, 'nullable') : rest, nullable };
}

function isNull(branch: unknown): boolean {
  if (!isObject(branch)) return false;
  const { anyOf, const: value, enum: values } = branch;
  const types = typesOf(branch);
  return (
    (Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every(isNull)) ||
    (types.length === 1 && types[0] === 'null') ||
    value === null ||
    (Array.isArray(values) && values.length === 1 && values[0] === null)
  );
}

/** Several types as `anyOf`, each with the keywords that apply to it. */
function split(schema: JsonObject): JsonObject {
  const types = typesOf(schema);
  if (types.length < 2) return schema;
  if (Array.isArray(schema['anyOf'])) return without(schema, 'type');
  const words = Object.entries(schema).filter(([key]) => annotations.has(key) && key !== 'format');
  const { enum: values } = schema;
  const branches = types.flatMap((type) => {
    const own = Object.entries(schema).filter(([key]) => key !== 'type' && bearsOn(key, type));
    const branch = { type, ...Object.fromEntries(own) };
    if (!Array.isArray(values)) return [branch];
    const fitting = values.filter((value) => isOfType(value, type));
    return fitting.length === 0 ? [] : [{ ...branch, enum: fitting }];
  });
  // Where no value is of any of the types, the values are right: a mistake of their author.
  if (branches.length === 0) return without(schema, 'type');
  return { ...Object.fromEntries(words), anyOf: branches };
}

function isOfType(value: unknown, type: string): boolean {
  const own = typeOfValue(value);
  return own === type || (own === 'integer' && type === 'number');
}

function bearsOn(key: string, type: string): boolean {
  if (key === 'format') return type === 'string';
  if (annotations.has(key)) return false;
  const about = typeOfKeyword.get(key);
  return about === undefined || about === type || (about === 'number' && type === 'integer');
}

/** Unions of one within each other. */
const MAX_WRAPPED = 8;

/** Puts what stands beside `anyOf` into each of its schemas, where the target suffers nothing beside it. */
export function alone(schema: JsonObject, rules: SchemaRules, lost: Lost): JsonObject {
  const { anyOf } = schema;
  if (!rules.unionAlone || !Array.isArray(anyOf)) return schema;
  const beside = Object.entries(schema).filter(([key]) => !staysBeside(key));
  if (beside.length === 0) return schema;
  const sharedKeywords = Object.fromEntries(Object.entries(schema).filter(([key]) => staysBeside(key)));
  const branches = anyOf.map((one) => {
    const branch = asSchema(one);
    if (isNull(branch)) return branch;
    if (!('$ref' in branch)) return mergeAll([plainTypes(branch), Object.fromEntries(beside)], lost);
    for (const [key] of beside) lost.add(key);
    return branch;
  });
  return { ...sharedKeywords, anyOf: branches };
}

const staysBeside = (key: string) => key === 'anyOf' || key === 'nullable' || annotations.has(key);

/**
 * An object for the root: the parts of an `allOf` in one, and in the place of a choice between objects every
 * property of any of them, required what all of them require. The description says that one of them must fit.
 * @param resolved follows a reference
 * @param choices how many more may be visited
 */
export function objectRoot(
  root: JsonObject,
  lost: Lost,
  resolved: (schema: JsonObject) => JsonObject,
  choices = { remaining: MAX_CHOICES, open: 0 },
): JsonObject {
  const whole = wellFormed(merged(resolved(root), lost, resolved));
  const rootKeywords = Object.entries(whole).filter(([key]) => notAtRoot.has(key));
  let result = without(whole, 'nullable', ...notAtRoot);
  for (const [key, value] of rootKeywords) {
    lost.add(key);
    if ((key !== 'anyOf' && key !== 'oneOf') || !Array.isArray(value)) continue;
    const branches = value.filter(isObject).filter((branch) => !isNull(branch));
    choices.remaining -= branches.length;
    if (choices.remaining < 0 || choices.open === MAX_OPEN) continue;
    choices.open += 1;
    const objects = branches.map((branch) => objectRoot(branch, lost, resolved, choices));
    choices.open -= 1;
    result = mergeAll([result, anyOfThem(objects, result)], lost);
  }
  const object = 'type' in result ? withKey(result, 'type', 'object') : { type: 'object', ...result };
  const complete = isObject(object['properties']) ? object : { ...object, properties: {} };
  return withDescribedConstraints(complete, rootKeywords);
}

const notAtRoot: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'enum', 'const', 'not']);
/** Choices looked at, with those within them: a reference may lead back to where it came from. */
const MAX_CHOICES = 200;
/** Choices within each other. */
const MAX_OPEN = 4;

/** What holds whichever of them fits, and properties that only some of them have, and not the root. */
function anyOfThem(branches: readonly JsonObject[], root: JsonObject): JsonObject {
  const own = isObject(root['properties']) ? root['properties'] : {};
  const times = new Map<string, number>();
  const schemas = new Map<string, Map<string, unknown>>();
  for (const { properties } of branches) {
    for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
      const kinds = schemas.get(name) ?? new Map<string, unknown>();
      kinds.set(JSON.stringify(schema), schema);
      times.set(name, (times.get(name) ?? 0) + 1);
      schemas.set(name, kinds);
    }
  }
  const otherProperties = [...schemas].filter(
    ([name]) => !Object.hasOwn(own, name) || times.get(name) === branches.length,
  );
  const properties = otherProperties.map(([name, kinds]) => {
    const [first, ...others] = kinds.values();
    return [name, others.length === 0 ? first : { anyOf: [first, ...others] }] as const;
  });
  const required = branches.map(({ required: names }) => new Set(Array.isArray(names) ? names : []));
  const [one = new Set(), ...others] = required;
  const all = [...one].filter((name) => others.every((names) => names.has(name)));
  return {
    properties: Object.fromEntries(properties),
    ...(all.length === 0 ? {} : { required: all }),
  };
}
