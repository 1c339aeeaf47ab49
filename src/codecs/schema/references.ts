import { isObject, type JsonObject } from '../json/values.ts';
import { mapInner, without } from './keywords.ts';
import { type Lost, mergeAll } from './merge.ts';

/** Schemas that may be written in the place of references; those after them are cut, however deep they stand. */
const MAX_INLINED = 1_000;
/** Schemas within schemas, with what was written in place of references. */
const MAX_DEPTH = 64;
/** How often a schema may come within itself before it is cut. */
const MAX_WITHIN_ITSELF = 1;

interface Inlining {
  /** What a schema with a reference becomes where that stays; null where what it leads to takes its place. */
  unresolved(schema: JsonObject): JsonObject | null;
  /** The schema of the document that is written. */
  from: JsonObject;
}

/** The schema without references: what each leads to stands in its place. */
export function inlined(
  root: JsonObject,
  lost: Lost,
  { from, unresolved }: Inlining = { from: root, unresolved: () => null },
): JsonObject {
  const open = new Map<string, number>();
  let written = 0;

  const visit = (schema: unknown, depth: number): unknown => {
    if (!isObject(schema)) return schema;
    if (open.size > 0) written += 1;
    const { $ref: reference } = schema;
    if (typeof reference !== 'string') return inner(schema, depth);
    const stays = unresolved(schema);
    if (stays !== null) return stays;
    const own = without(schema, '$ref');
    const target = leadsTo(root, reference);
    const times = open.get(reference) ?? 0;
    if (target === null || times > MAX_WITHIN_ITSELF || depth > MAX_DEPTH || written > MAX_INLINED) {
      lost.add('$ref');
      return inner(target === null ? own : mergeAll([own, stub(target)], lost), depth);
    }
    open.set(reference, times + 1);
    const whole = visit(target, depth + 1);
    if (times === 0) open.delete(reference);
    else open.set(reference, times);
    return isObject(whole) ? mergeAll([objectOr(inner(own, depth)), whole], lost) : whole;
  };
  const inner = (schema: JsonObject, depth: number): JsonObject =>
    mapInner(without(schema, '$defs', 'definitions'), (one) => visit(one, depth + 1));

  return objectOr(visit(from, 0));
}

/** Follows the references of one schema of `root`, those inside it excepted: generators that name the root write only one there. */
export function resolver(root: JsonObject, lost: Lost): (schema: JsonObject) => JsonObject {
  return (schema) => {
    let result = schema;
    const seen = new Set<string>();
    for (;;) {
      const { $ref: reference } = result;
      if (typeof reference !== 'string') return result;
      const target = leadsTo(root, reference);
      const own = without(result, '$ref');
      if (target === null || seen.has(reference) || target === schema) {
        lost.add('$ref');
        return own;
      }
      seen.add(reference);
      result = mergeAll([own, target], lost);
    }
  };
}

/** Recognizes the references that lead to a schema of `root` by a path; other kinds are not resolved. */
export function references(root: JsonObject): (reference: unknown) => boolean {
  return (reference) =>
    typeof reference === 'string' &&
    reference.startsWith('#') &&
    (!reference.startsWith('#/') || leadsTo(root, reference) !== null);
}

/** The keywords that remain of a cut reference: its type and its description. */
function stub({ description, type }: JsonObject): JsonObject {
  return {
    type: typeof type === 'string' ? type : 'object',
    ...(typeof description === 'string' ? { description } : {}),
  };
}

const objectOr = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The schema in the same document that a reference leads to (RFC 6901); null for any other. */
export function leadsTo(root: JsonObject, reference: string): JsonObject | null {
  if (reference !== '#' && !reference.startsWith('#/')) return null;
  let at: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const name = unescaped(step);
    if (Array.isArray(at)) at = at[Number(name)];
    else if (isObject(at) && Object.hasOwn(at, name)) at = at[name];
    else return null;
  }
  return isObject(at) ? at : null;
}

function unescaped(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
