import type { CompiledExpression } from './compile.ts';
import type { Evaluator } from './evaluator.ts';
import { type CesqlEvent, readAttribute } from './event.ts';
import { type AttributeTest, type Condition, conditionsOf, selectivityOf } from './filter-condition.ts';
import type { FunctionTable } from './functions.ts';
import { print } from './print.ts';
import { sharedParts } from './shared-parts.ts';

export interface Filter<Key> {
  key: Key;
  expression: CompiledExpression;
}

/** Many filters, asked about one event at a time. */
export interface FilterIndex<Key> {
  /** The keys of all filters that let the event pass, in the order in which they were given. */
  match(event: CesqlEvent): Key[];
  readonly statistics: FilterStatistics;
}

export interface FilterStatistics {
  filters: number;
  /** Filters that are written differently. */
  distinct: number;
  /** Those of them that are found by an attribute; the others are evaluated for every event. */
  indexed: number;
  /** Parts that several filters have, and that are evaluated once. */
  sharedParts: number;
}

/** One distinct expression. */
interface Entry {
  expression: CompiledExpression;
  /** Places of the filters that are this expression, among those given. */
  places: number[];
}

interface Candidate {
  evaluator: Evaluator;
  places: readonly number[];
}

type Buckets = Map<string, Candidate[]>;

/** What is looked up by the value of one attribute. */
interface AttributeIndex {
  attribute: string;
  equal: Buckets;
  /** By the length of the text that the attribute begins, or ends, with. */
  prefix: Map<number, Buckets>;
  suffix: Map<number, Buckets>;
  present: Candidate[];
  /** All of the above, for values that are no texts. */
  all: Candidate[];
}

/**
 * Prepares filters to be asked about events. It gives exactly the filters whose `matches` is true, and evaluates few of
 * them: by what a filter demands of an attribute (`type = 'a'`, `source LIKE '/b/%'`, `EXISTS c`) most are ruled out
 * with a look-up, equal filters are evaluated once, and so are parts that several filters have.
 */
export function createFilterIndex<Key>(filters: Iterable<Filter<Key>>): FilterIndex<Key> {
  const list = [...filters];
  const entries = distinctEntries(list.map(({ expression }) => expression));
  const parts = sharedParts(entries.map(({ expression }) => expression));
  const chosen = chooseConditions(entries);
  const byAttribute = new Map<string, AttributeIndex>();
  const rest: Candidate[] = [];
  entries.forEach(({ expression, places }, index) => {
    const candidate = { evaluator: parts.compile(expression), places };
    const condition = chosen[index];
    if (condition === undefined) rest.push(candidate);
    else for (const test of condition) insert(byAttribute, test, candidate);
  });
  const indexes = [...byAttribute.values()];
  return {
    match: (event) => {
      const places = parts.during(() => placesFor(event, rest, indexes));
      places.sort((a, b) => a - b);
      // A filter that is found by two of its tests was evaluated twice.
      return places.flatMap((place, at) => {
        const filter = place === places[at - 1] ? undefined : list[place];
        return filter === undefined ? [] : [filter.key];
      });
    },
    statistics: {
      filters: list.length,
      distinct: entries.length,
      indexed: entries.length - rest.length,
      sharedParts: parts.count,
    },
  };
}

function distinctEntries(expressions: readonly CompiledExpression[]): Entry[] {
  const byTable = new Map<FunctionTable, Map<string, Entry>>();
  const entries: Entry[] = [];
  expressions.forEach((expression, place) => {
    const byText = byTable.get(expression.functions) ?? new Map<string, Entry>();
    byTable.set(expression.functions, byText);
    const text = print(expression.syntax);
    const entry = byText.get(text) ?? { expression, places: [] };
    if (entry.places.length === 0) entries.push(entry);
    byText.set(text, entry);
    entry.places.push(place);
  });
  return entries;
}

/** For each entry the condition that the fewest entries share, of those that are expected to rule out the most. */
function chooseConditions(entries: readonly Entry[]): (Condition | undefined)[] {
  const conditionLists = entries.map(({ expression }) => conditionsOf(expression.syntax));
  const uses = new Map<string, number>();
  const keyOf = ({ attribute, kind, text }: AttributeTest) => `${attribute} ${kind} ${text}`;
  for (const conditions of conditionLists)
    for (const key of new Set(conditions.flat().map(keyOf))) uses.set(key, (uses.get(key) ?? 0) + 1);
  const crowd = (condition: Condition) =>
    condition.reduce((sum, test) => sum + (uses.get(keyOf(test)) ?? 0), 0);
  return conditionLists.map((conditions) => {
    const ranked = conditions.map((condition) => ({
      condition,
      rank: selectivityOf(condition),
      crowd: crowd(condition),
    }));
    return ranked.sort((a, b) => a.rank - b.rank || a.crowd - b.crowd)[0]?.condition;
  });
}

function insert(byAttribute: Map<string, AttributeIndex>, test: AttributeTest, candidate: Candidate): void {
  const { attribute, kind, text } = test;
  const index = byAttribute.get(attribute) ?? emptyIndex(attribute);
  byAttribute.set(attribute, index);
  if (index.all.at(-1) !== candidate) index.all.push(candidate);
  switch (kind) {
    case 'present':
      index.present.push(candidate);
      break;
    case 'equal':
      put(index.equal, text, candidate);
      break;
    case 'prefix':
    case 'suffix': {
      const buckets: Buckets = index[kind].get(text.length) ?? new Map();
      index[kind].set(text.length, buckets);
      put(buckets, text, candidate);
      break;
    }
  }
}

function emptyIndex(attribute: string): AttributeIndex {
  return { attribute, equal: new Map(), prefix: new Map(), suffix: new Map(), present: [], all: [] };
}

function put(buckets: Buckets, text: string, candidate: Candidate): void {
  const bucket = buckets.get(text) ?? [];
  bucket.push(candidate);
  buckets.set(text, bucket);
}

/** The places of the filters that let the event pass, in no order, some of them twice. */
function placesFor(
  event: CesqlEvent,
  rest: readonly Candidate[],
  indexes: readonly AttributeIndex[],
): number[] {
  const places: number[] = [];
  const evaluate = (candidates: readonly Candidate[] | undefined): void => {
    if (candidates === undefined) return;
    for (const { evaluator, places: own } of candidates)
      if (evaluator(event, null) === true) for (const place of own) places.push(place);
  };
  evaluate(rest);
  for (const index of indexes) {
    const value = readAttribute(event, index.attribute);
    if (value === undefined) continue;
    if (typeof value !== 'string') {
      evaluate(index.all);
      continue;
    }
    evaluate(index.equal.get(value));
    for (const [length, buckets] of index.prefix) evaluate(buckets.get(value.slice(0, length)));
    for (const [length, buckets] of index.suffix)
      if (length <= value.length) evaluate(buckets.get(value.slice(value.length - length)));
    evaluate(index.present);
  }
  return places;
}
