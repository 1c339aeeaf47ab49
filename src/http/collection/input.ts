import type { z } from 'zod';
import { GatewayError } from '../../lib/error.ts';
import { unwrapped } from './attributes.ts';

/** No document of this API comes near. */
const MAX_DEPTH = 64;

export type Members = Record<string, unknown>;

/** Whether a value is an object with fields. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The input of a caller, parsed by its schema.
 * @param at its position in the body, for errors: `''` or `resources[2]`
 * @throws GatewayError `invalid_request` with the field at fault; fields that are not in the schema are refused,
 *   so that none is dropped in silence
 */
export function validated(schema: z.ZodObject, input: unknown, at = ''): Members {
  if (!isObject(input)) throw atFault(at === '' ? 'body' : at, 'must be an object');
  const unknown = findUnknownField(schema, input, at);
  if (unknown !== null) throw atFault(unknown, 'is unknown here');
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = (issue?.path ?? []).reduce<string>(joined, at);
  throw atFault(path === '' ? 'body' : path, issue?.message ?? 'cannot be used');
}

/** The refusal of what a caller gave, naming the field. */
export function atFault(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `"${param}": ${problem}`, { param });
}

/**
 * Refuses documents that are nested so deeply that recursion over them would overflow the stack.
 * @throws GatewayError `invalid_request`
 */
export function checkDepth(document: unknown): void {
  let level = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw atFault('body', `is nested deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
}

/** The path of the first field that is not in a schema; null when all are, or any are allowed. */
function findUnknownField(schema: z.core.SomeType, value: unknown, at: string): string | null {
  const { def } = unwrapped(schema)._zod;
  if (def.type === 'array' && Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const unknownField = findUnknownField(def.element, element, joined(at, index));
      if (unknownField !== null) return unknownField;
    }
  }
  if (def.type === 'record' && isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      // The schema would drop them without an error.
      if (name === '__proto__') return joined(at, name);
      const unknownField = findUnknownField(def.valueType, member, joined(at, name));
      if (unknownField !== null) return unknownField;
    }
  }
  if (def.type !== 'object' || !isObject(value)) return null;
  for (const [name, member] of Object.entries(value)) {
    const fieldSchema = Object.hasOwn(def.shape, name) ? def.shape[name] : def.catchall;
    if (fieldSchema === undefined || fieldSchema._zod.def.type === 'never') return joined(at, name);
    const unknownField = findUnknownField(fieldSchema, member, joined(at, name));
    if (unknownField !== null) return unknownField;
  }
  return null;
}

/** A path with one step more, as people write it; long names are cut. */
function joined(at: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${at}[${step}]`;
  const name = String(step).slice(0, 100);
  return at === '' ? name : `${at}.${name}`;
}
