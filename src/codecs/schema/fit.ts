import { GatewayError } from '../../lib/error.ts';
import { isObject, type JsonObject } from '../json/values.ts';
import { withDescribedConstraints } from './described-constraints.ts';
import { annotations, mapInner, silent, typesOf, without } from './keywords.ts';
import type { Lost } from './merge.ts';
import { aloneReference, endless, recursive, withoutUnused } from './recursion.ts';
import { inlined, references, resolver } from './references.ts';
import { planOf, type RestorePlan } from './restore.ts';
import { accepts, full, type SchemaRules } from './rules.ts';
import {
  asSchema,
  inclusive,
  merged,
  plainTypes,
  possible,
  renamed,
  tuples,
  typed,
  wellFormed,
  withKey,
} from './shape.ts';
import { alone, objectRoot, oneType } from './union.ts';

export interface FittedSchema {
  schema: JsonObject;
  /** Keywords that hold no longer, by name and in order; those that only describe are not among them. */
  lost: string[];
  /** How a value that follows this schema becomes one that follows the client's; null when it already does. */
  plan: RestorePlan | null;
}

export type FitSchema = typeof fitSchema;

/** Containers within containers in a schema as it comes. */
const MAX_DEPTH = 200;
/** Values in a schema as it comes; the largest tools of known clients have some thousand. */
const MAX_VALUES = 20_000;
/** Schemas in what is sent. */
const MAX_SCHEMAS = 20_000;

/**
 * The schema as a target takes it. The same schema gives the same one every time, and one that fits already
 * gives itself.
 * @param path where the schema stands in the request, for the message of an error
 * @throws GatewayError `invalid_request` for a schema that is nested too deeply or too large
 */
export function fitSchema(schema: JsonObject, rules: SchemaRules, path: string): FittedSchema {
  if (rules === full) return { schema, lost: [], plan: null };
  checkSize(schema, path);
  const lost: Lost = new Set();
  const plain = dereferenced(schema, rules, lost);
  const root = rules.root === 'object' ? objectRoot(plain, lost, resolver(plain, lost)) : plain;
  const fitted = fit(root, { rules, lost, path, isKnown: references(root), remaining: MAX_SCHEMAS });
  const result = { ...fitted, lost: [...lost].sort() };
  if (rules.references !== 'recursive' || !('$defs' in result.schema)) return result;
  // What other keywords required was not known before they were merged.
  if (endless(result.schema)) return fitSchema(schema, { ...rules, references: 'inline' }, path);
  return { ...result, schema: withoutUnused(result.schema) };
}

function dereferenced(schema: JsonObject, { references: rule }: SchemaRules, lost: Lost): JsonObject {
  if (rule === 'keep') return schema;
  return rule === 'inline' ? inlined(schema, lost) : recursive(schema, lost);
}

function checkSize(schema: JsonObject, path: string): void {
  const waiting: { value: unknown; depth: number }[] = [{ value: schema, depth: 1 }];
  let values = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { depth, value } = next;
    if (typeof value !== 'object' || value === null) continue;
    const inner = Object.values(value);
    values += inner.length;
    if (values > MAX_VALUES) throw tooLarge(path);
    if (depth > MAX_DEPTH)
      throw new GatewayError('invalid_request', `The schema of "${path}" is nested too deeply`, {
        param: path,
      });
    for (const one of inner) waiting.push({ value: one, depth: depth + 1 });
  }
}

function tooLarge(path: string): GatewayError {
  return new GatewayError('invalid_request', `The schema of "${path}" is too large`, { param: path });
}

interface Walk {
  rules: SchemaRules;
  lost: Lost;
  path: string;
  /** Whether a reference leads to a schema of the document. */
  isKnown(reference: unknown): boolean;
  /** Schemas that may still be written. */
  remaining: number;
}

interface Fitted {
  schema: JsonObject;
  plan: RestorePlan | null;
}

function fit(schema: unknown, walk: Walk): Fitted {
  walk.remaining -= 1;
  if (walk.remaining < 0) throw tooLarge(walk.path);
  const { rules } = walk;
  const shaped = shape(asSchema(schema), walk);
  const { schema: plain, values } = rules.textEnums ? textEnum(shaped) : { schema: shaped, values: null };
  const inner = fitInner(plain, walk);
  const plan = planOf({ ...inner.plan, ...(values === null ? {} : { values }) });
  const { type } = inner.schema;
  return rules.upperTypes && typeof type === 'string'
    ? { schema: withKey(inner.schema, 'type', type.toUpperCase()), plan }
    : { schema: inner.schema, plan };
}

/** The outcome of one step may need another. */
const MAX_TURNS = 4;

function shape(schema: JsonObject, walk: Walk): JsonObject {
  const { lost, rules } = walk;
  let result = schema;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const before = Object.keys(result).join();
    result = oneType(plainOf(result, walk), rules, lost, (one) => plainOf(one, walk));
    if (Object.keys(result).join() === before) break;
  }
  return needed(alone(result, rules, lost), rules, lost);
}

/** The schema in keywords that the target supports. */
function plainOf(schema: JsonObject, walk: Walk): JsonObject {
  const { isKnown, lost, rules } = walk;
  let result = schema;
  if ('$ref' in result && !isKnown(result['$ref'])) {
    lost.add('$ref');
    result = without(result, '$ref');
  }
  if ('$ref' in result && rules.references === 'recursive') return aloneReference(result, lost);
  result = plainTypes(possible(wellFormed(result), rules));
  if (!accepts(rules, 'allOf')) result = plainTypes(merged(result, lost));
  result = inclusive(tuples(renamed(result, rules), rules, lost), rules, lost);
  return withSupportedKeywords(typed(result, rules), walk);
}

/** What is to be in an array, and only declared properties among the required. */
function needed(schema: JsonObject, rules: SchemaRules, lost: Lost): JsonObject {
  let result = schema;
  const { items, prefixItems, properties, required } = result;
  const missing = items === undefined || items === true || (items === false && !Array.isArray(prefixItems));
  if (rules.itemsNeeded && typesOf(result).includes('array') && missing && !Array.isArray(prefixItems))
    result = { ...without(result, 'items'), items: rules.typed ? { type: 'string' } : {} };
  if (rules.closesObjects && typesOf(result).includes('object') && properties === undefined)
    result = { additionalProperties: true, ...result };
  if (!Array.isArray(required)) return result;
  const declared = isObject(properties) ? properties : {};
  const requiredNames = [...new Set(required)].filter(
    (name) => typeof name === 'string' && (!rules.declaredOnly || Object.hasOwn(declared, name)),
  );
  if (requiredNames.length === required.length) return result;
  lost.add('required');
  return requiredNames.length === 0
    ? without(result, 'required')
    : withKey(result, 'required', requiredNames);
}

const bounds: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minItems', 'maxItems']);

/** The schema of keywords that the target accepts; the others are written into the description. */
function withSupportedKeywords(schema: JsonObject, { lost, rules }: Walk): JsonObject {
  const takes = (key: string, value: unknown) =>
    // Until it is written in the target's own way.
    (accepts(rules, key) || (key === 'nullable' && value === true)) &&
    (key !== 'format' || rules.formats === null || rules.formats.has(String(value))) &&
    (rules.largestBound === null || !bounds.has(key) || Number(value) <= rules.largestBound);
  const unsupported = Object.entries(schema).filter(([key, value]) => !takes(key, value));
  if (unsupported.length === 0) return schema;
  const supportedKeywords = without(schema, ...unsupported.map(([key]) => key));
  const lostConstraints = unsupported.filter(
    ([key, value]) => !silent.has(key) && !key.startsWith('x-') && !isNegligible(key, value),
  );
  for (const [key] of lostConstraints) if (!annotations.has(key)) lost.add(key);
  return withDescribedConstraints(supportedKeywords, lostConstraints);
}

const flags: ReadonlySet<string> = new Set([
  'uniqueItems',
  'deprecated',
  'readOnly',
  'writeOnly',
  'nullable',
]);

/**
 * Whether a keyword that the target does not accept is left out without a report: a flag that is not set, a default of
 * null, or whether an object is closed.
 */
function isNegligible(key: string, value: unknown): boolean {
  if (flags.has(key)) return value !== true;
  if (key === 'default') return value === null;
  // Names of properties are always strings.
  if (key === 'propertyNames') return JSON.stringify(value) === '{"type":"string"}';
  return typeof value === 'boolean' && (key === 'additionalProperties' || key.startsWith('unevaluated'));
}

/** Enumerated values as texts, with what each stands for. */
function textEnum(schema: JsonObject): { schema: JsonObject; values: ReadonlyMap<string, unknown> | null } {
  const { enum: list } = schema;
  if (!Array.isArray(list)) return { schema, values: null };
  const texts = list.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const own = new Set(list.filter((value) => typeof value === 'string'));
  const values = new Map<string, unknown>();
  list.forEach((value, index) => {
    const text = texts[index] ?? '';
    // A text that the client enumerates itself means itself.
    if (typeof value !== 'string' && !own.has(text)) values.set(text, value);
  });
  const { format: _, ...rest } = schema;
  const plain = values.size === 0 ? schema : rest;
  const enumerated = withKey({ ...plain }, 'enum', [...new Set(texts)]);
  return {
    schema: { ...enumerated, type: 'string' },
    values: values.size === 0 ? null : values,
  };
}

/** The schemas inside the schema, and what became of them together. */
function fitInner(schema: JsonObject, walk: Walk): Fitted {
  const properties = new Map<string, RestorePlan>();
  const branches: RestorePlan[] = [];
  const plan: RestorePlan = {};
  const fitted = mapInner(schema, (inner, keyword, name) => {
    if (typeof inner === 'boolean' && keyword !== 'properties' && keyword !== 'anyOf') return inner;
    const result = fit(inner, walk);
    if (result.plan === null) return result.schema;
    if (keyword === 'properties' && name !== null) properties.set(name, result.plan);
    if (keyword === 'items') plan.items = result.plan;
    if (keyword === 'additionalProperties') plan.others = result.plan;
    if (keyword === 'anyOf') branches.push(result.plan);
    return result.schema;
  });
  if (properties.size > 0) plan.properties = properties;
  if (branches.length > 0) plan.branches = branches;
  return { schema: fitted, plan };
}
