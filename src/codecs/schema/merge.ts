import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject } from '../json/values.ts';
import { typesOf } from './keywords.ts';

/** Keywords that no one else can say any more, by name. */
export type Lost = Set<string>;

const larger: ReadonlySet<string> = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'minContains',
]);
const smaller: ReadonlySet<string> = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'maxContains',
]);
const schemaMaps: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
/** Where the first wins and no one misses the others. */
const firstWins: ReadonlySet<string> = new Set([
  'description',
  'title',
  'default',
  'example',
  'examples',
  '$schema',
  '$id',
  '$comment',
  '$anchor',
  'deprecated',
]);

/**
 * One schema that requires what all of them require; of descriptions the first wins. What cannot be combined is reported
 * in `lost`. Each schema is visited once, however many there are.
 */
export function mergeAll(schemas: readonly JsonObject[], lost: Lost): JsonObject {
  const [first] = schemas;
  if (schemas.length === 1 && first !== undefined) return first;
  const values = new Map<string, unknown[]>();
  for (const schema of schemas) {
    for (const [key, value] of Object.entries(schema)) {
      const list = values.get(key);
      if (list === undefined) values.set(key, [value]);
      else list.push(value);
    }
  }
  return Object.fromEntries([...values].map(([key, list]) => [key, combined(key, list, lost)]));
}

function combined(key: string, list: readonly unknown[], lost: Lost): unknown {
  const [first] = list;
  if (list.length === 1) return first;
  if (schemaMaps.has(key)) return mergeNamed(list.filter(isObject), lost);
  if (key === 'required') return [...new Set(list.flatMap((one) => (Array.isArray(one) ? one : [])))];
  if (key === 'type') return commonTypes(list, lost);
  if (key === 'enum') return commonValues(list, lost);
  if (key === 'additionalProperties' || key === 'items') return mergeInner(key, list, lost);
  if (larger.has(key) || smaller.has(key)) {
    const bounds = list.filter((value) => numberOf(value) !== null);
    const isTighter = (a: unknown, b: unknown) =>
      larger.has(key) === Number(numberOf(a)) > Number(numberOf(b));
    if (bounds.length > 0) return bounds.reduce((a, b) => (isTighter(a, b) ? a : b));
  }
  if (!firstWins.has(key)) {
    const text = JSON.stringify(first);
    if (list.some((value) => JSON.stringify(value) !== text)) lost.add(key);
  }
  return first;
}

function mergeNamed(maps: readonly JsonObject[], lost: Lost): JsonObject {
  const schemas = new Map<string, unknown[]>();
  for (const map of maps) {
    for (const [name, schema] of Object.entries(map)) {
      const list = schemas.get(name);
      if (list === undefined) schemas.set(name, [schema]);
      else list.push(schema);
    }
  }
  return Object.fromEntries([...schemas].map(([name, list]) => [name, mergeInner(name, list, lost)]));
}

/** Schemas that may be true, false or no schema at all. */
function mergeInner(key: string, list: readonly unknown[], lost: Lost): unknown {
  if (list.includes(false)) return false;
  const objects = list.filter(isObject);
  if (objects.length > 0) return mergeAll(objects, lost);
  if (list.some((one) => one !== true)) lost.add(key);
  return list[0];
}

function commonTypes(list: readonly unknown[], lost: Lost): unknown {
  const sets = list.map((type) => typesOf({ type }));
  const [first = [], ...others] = sets;
  // Every whole number is a number.
  const allows = (types: readonly string[], name: string) =>
    types.includes(name) || (name === 'integer' && types.includes('number'));
  const all = [...new Set([...first, ...others.flat()])];
  const common = all.filter((name) => sets.every((types) => types.length === 0 || allows(types, name)));
  if (common.length === 0) {
    lost.add('type');
    return list[0];
  }
  return common.length === 1 ? common[0] : common;
}

function commonValues(list: readonly unknown[], lost: Lost): unknown {
  const [first, ...others] = list.filter((one) => Array.isArray(one));
  if (first === undefined) return list[0];
  const texts = others.map((values) => new Set(values.map((value) => JSON.stringify(value))));
  const common = first.filter((value) => texts.every((set) => set.has(JSON.stringify(value))));
  if (common.length > 0) return common;
  lost.add('enum');
  return first;
}
