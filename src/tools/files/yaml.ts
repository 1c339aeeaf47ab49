import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  parseAllDocuments,
  parseDocument,
} from 'yaml';
import { insertItem, removeItem } from './bracketed.ts';
import type { ReadResult, Syntax } from './format.ts';
import { type Layout, layoutOf, lineEnd, lineStart, nextLine, placeOf, spliced } from './layout.ts';
import type { Key } from './path.ts';
import { FileEditError, isObject, type Json } from './value.ts';
import { blockLines, flowText } from './yaml-text.ts';
import {
  bracketed,
  type Collection,
  collectionAt,
  deepEnd,
  indexOf,
  isFlow,
  itemStart,
  valueNode,
} from './yaml-tree.ts';

/** YAML 1.2, one document. What stands behind an alias is read and never changed. */
export const yamlSyntax: Syntax = {
  read,
  replace: (text, keys, value) => {
    const holder = collectionAt(parse(text), keys.slice(0, -1));
    return replaceItem(text, holder, indexOf(holder, keys.at(-1) ?? ''), value);
  },
  insert: (text, parent, key, value) => {
    const document = parse(text);
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null))
      return appendRoot(text, key, value);
    const holder = collectionAt(document, parent);
    if (!isFlow(holder)) return insertBlock(text, holder, key, value);
    return insertItem(text, bracketed(holder), () => flowText(key, value), layoutOf(text), 'hash');
  },
  remove: (text, keys) => {
    const document = parse(text);
    const holder = collectionAt(document, keys.slice(0, -1));
    const index = indexOf(holder, keys.at(-1) ?? '');
    if (isFlow(holder)) return removeItem(text, bracketed(holder), index, 'hash');
    if (holder.items.length > 1 || keys.length === 1) return removeBlock(text, holder, index);
    // A block without items would be read as null.
    const outer = collectionAt(document, keys.slice(0, -2));
    return replaceItem(text, outer, indexOf(outer, keys.at(-2) ?? ''), isMap(holder) ? {} : []);
  },
};

function parse(text: string): Document {
  return parseDocument(text, { keepSourceTokens: true });
}

function read(text: string): ReadResult {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents) || documents[0] === undefined) return { ok: true, value: {} };
  const [document, second] = documents;
  if (second !== undefined) return { ok: false, problem: 'It holds several documents', line: 1, column: 1 };
  const error = document.errors[0];
  if (error !== undefined) {
    // What follows a colon is quoted from the file, which may be a secret.
    const [problem = ''] = error.message.split(/ at line \d|: /);
    return { ok: false, problem: `It is not valid YAML: ${problem}`, ...placeOf(text, error.pos[0]) };
  }
  const value: unknown = document.toJS() ?? {};
  if (isObject(value)) return { ok: true, value };
  return { ok: false, problem: 'It holds no named entries', line: 1, column: 1 };
}

/** The first entry of a file that has none, perhaps below comments. */
function appendRoot(text: string, key: Key, value: Json): string {
  const { eol, unit } = layoutOf(text);
  const lines = blockLines(key, value, '', unit).join(eol);
  return text === '' || text.endsWith('\n') ? `${text}${lines}${eol}` : `${text}${eol}${lines}`;
}

function insertBlock(text: string, holder: Collection, key: Key, value: Json): string {
  const first = holder.items[0];
  if (first === undefined) throw new FileEditError('The block has no entries');
  const { eol, unit } = blockLayout(text);
  const start = itemStart(text, holder, 0);
  const indent = ' '.repeat(start - lineStart(text, start));
  const lines = blockLines(key, value, indent, unit);
  const at = lineEnd(text, Math.max(deepEnd(text, holder.items.at(-1)) - 1, 0));
  return spliced(text, [{ start: at, end: at, text: eol + lines.join(eol) }]);
}

/** YAML takes no tabs for indentation. */
function blockLayout(text: string): Layout {
  const { eol, unit } = layoutOf(text);
  return { eol, unit: unit.length >= 2 && unit.length <= 8 && !unit.includes('\t') ? unit : '  ' };
}

function replaceItem(text: string, holder: Collection, index: number, value: Json): string {
  const item = holder.items[index];
  const node = valueNode(item);
  if (isAlias(node)) throw new FileEditError('It is behind an alias');
  const inline = flowText(null, value);
  const nested = isObject(value) && Object.keys(value).length > 0;
  const range = isNode(node) ? node.range : null;
  if (isNode(node) && range !== null && range !== undefined) {
    const empty = range[0] === range[1];
    const end = isCollection(node) && !isFlow(node as Collection) ? deepEnd(text, item) : range[1];
    if (!empty && !(nested && !isFlow(holder))) return replaceText(text, range[0], end, inline);
  }
  if (isFlow(holder) || !isMap(holder)) throw new FileEditError('It is an empty entry of a list');
  return replacePair(text, holder, index, value);
}

/** A value that is a block begins on a line of its own: what takes its place in the line of the key follows the colon. */
function replaceText(text: string, start: number, end: number, inline: string): string {
  let to = end;
  while (to > start && /[\r\n]/.test(text[to - 1] ?? '')) to -= 1;
  const startsLine = text.slice(lineStart(text, start), start).trim() === '';
  if (!startsLine) return spliced(text, [{ start, end: to, text: inline }]);
  const before = text.slice(0, start).trimEnd();
  return `${before} ${inline}${text.slice(to)}`;
}

/** Writes a whole entry anew: for a value that was empty, and for a group that takes the place of a value. */
function replacePair(text: string, holder: Collection, index: number, value: Json): string {
  const { eol, unit } = blockLayout(text);
  const start = itemStart(text, holder, index);
  const key = String((holder.items[index] as { key?: unknown } | undefined)?.key ?? '');
  const indent = ' '.repeat(start - lineStart(text, start));
  const lines = blockLines(key, value, indent, unit).join(eol).trimStart();
  const end = deepEnd(text, holder.items[index]);
  return spliced(text, [{ start, end, text: lines }]);
}

function removeBlock(text: string, holder: Collection, index: number): string {
  const start = itemStart(text, holder, index);
  const end = nextLine(text, Math.max(deepEnd(text, holder.items[index]) - 1, 0));
  const line = lineStart(text, start);
  if (text.slice(line, start).trim() !== '') {
    // The first entry of a group that is an item of a list: the dash before it stays.
    const next = holder.items[index + 1];
    if (next === undefined) throw new FileEditError('It shares its line with another entry');
    return spliced(text, [{ start, end: itemStart(text, holder, index + 1), text: '' }]);
  }
  const cut = spliced(text, [{ start: line, end, text: '' }]);
  return end === text.length && !text.endsWith('\n') ? cut.replace(/\r?\n$/, '') : cut;
}
