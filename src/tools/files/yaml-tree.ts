import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { BracketedList } from './bracketed.ts';
import type { Key } from './path.ts';
import { FileEditError } from './value.ts';

/** A group or a list of a YAML file. */
export type Collection = YAMLMap | YAMLSeq;

/** @throws FileEditError when no group or list stands there, or only an alias of one */
export function collectionAt(document: Document, keys: readonly Key[]): Collection {
  let node: unknown = document.contents;
  for (const key of keys) node = valueNode(asCollection(node).items[indexOf(asCollection(node), key)]);
  return asCollection(node);
}

function asCollection(node: unknown): Collection {
  if (isAlias(node)) throw new FileEditError('It is behind an alias');
  if (isMap(node) || isSeq(node)) return node;
  throw new FileEditError('There is no group of entries');
}

export function indexOf(holder: Collection, key: Key): number {
  if (typeof key === 'number') return key;
  const index = holder.items.findIndex((item) => isPair(item) && keyName(item.key) === key);
  if (index === -1) throw new FileEditError(`${key} was not found, or comes from elsewhere`);
  return index;
}

function keyName(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

/** The value of an entry of a group; an item of a list is its own value. */
export function valueNode(item: unknown): unknown {
  return isPair(item) ? item.value : item;
}

export function isFlow(holder: Collection): boolean {
  return holder.flow === true;
}

/** A flow as a list between brackets. */
export function bracketed(holder: Collection): BracketedList {
  const [start, end] = rangeOf(holder);
  return {
    open: start + 1,
    close: end - 1,
    items: holder.items.map((item) => {
      const first = rangeOf(isPair(item) ? item.key : item)[0];
      const value = valueNode(item);
      const last = isNode(value) ? rangeOf(value)[1] : rangeOf(isPair(item) ? item.key : item)[1];
      return { start: first, end: last };
    }),
  };
}

/** Where an entry of a block begins: at its key, or at the dash of an item. */
export function itemStart(text: string, holder: Collection, index: number): number {
  const item = holder.items[index];
  const start = rangeOf(isPair(item) ? item.key : item)[0];
  return isMap(holder) ? start : text.lastIndexOf('-', start - 1);
}

/** Where the last character of an entry stands, plus one: line breaks and comments behind it are not part of it. */
export function deepEnd(text: string, item: unknown): number {
  const value = valueNode(item);
  if ((isMap(value) || isSeq(value)) && !isFlow(value) && value.items.length > 0)
    return deepEnd(text, value.items.at(-1));
  const node = isNode(value) ? value : isPair(item) ? item.key : item;
  const [start, valueEnd] = rangeOf(node);
  let end = valueEnd;
  while (end > start && /[\r\n]/.test(text[end - 1] ?? '')) end -= 1;
  // An entry without a value ends behind its colon.
  if (isPair(item) && end <= rangeOf(item.key)[1]) end = text.indexOf(':', rangeOf(item.key)[1]) + 1;
  return end;
}

function rangeOf(node: unknown): readonly [number, number, number] {
  const range = isNode(node) ? node.range : null;
  if (range === null || range === undefined) throw new FileEditError('It has no place in the file');
  return range;
}
