import { isObject, type JsonObject } from '../json/values.ts';
import { annotations, mapInner, silent, without } from './keywords.ts';
import type { Lost } from './merge.ts';
import { inlined, leadsTo } from './references.ts';

/** Where the references inside one schema lead, and whether an object can do without each of them. */
type Edges = ReadonlyMap<string, { optional: boolean }>;

/** Definitions whose references are followed; schemas of more are written without any. */
const MAX_DEFINITIONS = 200;

/**
 * The schema with references only to what holds itself, each alone in its schema and leading to `$defs`; the others are
 * written out. Where an object cannot do without the one inside it, all are written out, to a depth: "cyclic references
 * […] may only be used within non-required properties" (ai.google.dev/api/generate-content, `responseJsonSchema`).
 */
export function recursive(root: JsonObject, lost: Lost): JsonObject {
  const graph = graphOf(root);
  const circular = graph === null ? [] : [...graph.keys()].filter((name) => returns(graph, name, () => true));
  if (graph === null || circular.length === 0 || isEndless(graph)) return inlined(root, lost);
  const names = namesOf(circular);
  const keepReference = (schema: JsonObject): JsonObject | null => {
    const name = names.get(String(schema['$ref']));
    return name === undefined ? null : aloneReference({ ...schema, $ref: `#/$defs/${name}` }, lost);
  };
  const definitions = circular.map((reference) => {
    const target = leadsTo(root, reference) ?? {};
    return [
      names.get(reference) ?? '',
      inlined(root, lost, { unresolved: keepReference, from: target }),
    ] as const;
  });
  const first = typeof root['$ref'] === 'string' ? leadsTo(root, root['$ref']) : null;
  return {
    ...inlined(root, lost, { unresolved: keepReference, from: { ...without(root, '$ref'), ...first } }),
    $defs: Object.fromEntries(definitions),
  };
}

/** A reference without what stands beside it. */
export function aloneReference(schema: JsonObject, lost: Lost): JsonObject {
  for (const key of Object.keys(schema))
    if (key !== '$ref' && !annotations.has(key) && !silent.has(key)) lost.add(key);
  return { $ref: schema['$ref'] };
}

/** Whether an object of the document cannot do without one of its own kind inside it. */
export function endless(root: JsonObject): boolean {
  const graph = graphOf(root);
  return graph === null || isEndless(graph);
}

function isEndless(graph: ReadonlyMap<string, Edges>): boolean {
  return [...graph.keys()].some((name) => returns(graph, name, ({ optional }) => !optional));
}

/** What each reference of the document leads on to; null where there are too many. */
function graphOf(root: JsonObject): Map<string, Edges> | null {
  const graph = new Map<string, Edges>();
  const waiting = [...edgesOf(root).keys()];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const target = graph.has(next) ? null : leadsTo(root, next);
    if (target === null) continue;
    if (graph.size === MAX_DEFINITIONS) return null;
    const edges = edgesOf(target);
    graph.set(next, edges);
    waiting.push(...edges.keys());
  }
  return graph;
}

function edgesOf(schema: JsonObject): Edges {
  const edges = new Map<string, { optional: boolean }>();
  const visit = (inner: unknown, optional: boolean): void => {
    if (!isObject(inner)) return;
    const { $ref: reference, required } = inner;
    if (typeof reference === 'string') {
      const wasOptional = edges.get(reference)?.optional ?? true;
      edges.set(reference, { optional: wasOptional && optional });
    }
    const needed = new Set(Array.isArray(required) ? required : []);
    mapInner(without(inner, '$defs', 'definitions'), (one, keyword, name) => {
      visit(one, optional || (keyword === 'properties' && !needed.has(name)));
      return one;
    });
  };
  visit(schema, false);
  return edges;
}

/** Whether a way of such steps leads from a definition back to itself. */
function returns(
  graph: ReadonlyMap<string, Edges>,
  start: string,
  isStep: (edge: { optional: boolean }) => boolean,
): boolean {
  const seen = new Set<string>();
  const waiting = [start];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [name, edge] of graph.get(next) ?? []) {
      if (!isStep(edge) || seen.has(name)) continue;
      if (name === start) return true;
      seen.add(name);
      waiting.push(name);
    }
  }
  return false;
}

/** Names for `$defs` from the ends of references, no two the same. */
function namesOf(references: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const takenNames = new Set<string>();
  for (const reference of references) {
    const last = reference.slice(reference.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_]/g, '') || 'Root';
    let name = last;
    for (let suffix = 2; takenNames.has(name); suffix += 1) name = `${last}_${suffix}`;
    takenNames.add(name);
    names.set(reference, name);
  }
  return names;
}

/** The schema without definitions that nothing leads to any more. */
export function withoutUnused(schema: JsonObject): JsonObject {
  const { $defs: definitions } = schema;
  if (!isObject(definitions)) return schema;
  const used = graphOf(schema);
  const usedDefinitions = Object.entries(definitions).filter(
    ([name]) => used === null || used.has(`#/$defs/${name}`),
  );
  const rest = without(schema, '$defs');
  return usedDefinitions.length === 0 ? rest : { ...rest, $defs: Object.fromEntries(usedDefinitions) };
}
