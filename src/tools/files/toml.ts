import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { insertItem, removeItem } from './bracketed.ts';
import type { ReadResult, Syntax } from './format.ts';
import { layoutOf, lineEnd, lineStart, nextLine, spliced } from './layout.ts';
import type { Key } from './path.ts';
import { inlineValue, keyText, tableText } from './toml-text.ts';
import { FileEditError, isObject, type Json } from './value.ts';

type Container = AST.TOMLTopLevelTable | AST.TOMLTable | AST.TOMLInlineTable;

/** TOML 1.0: tables, arrays of tables, dotted keys and inline tables. */
export const tomlSyntax: Syntax = {
  read,
  replace: (text, keys, value) => {
    const { value: node } = pairAt(text, keys);
    return spliced(text, [{ start: node.range[0], end: node.range[1], text: inlineValue(value) }]);
  },
  insert: (text, parent, key, value) => {
    const top = parse(text);
    const holder = parent.length === 0 ? null : inlineAt(top, parent);
    if (holder !== null) return insertInline(text, holder, key, value);
    if (typeof key === 'number') return appendTables(text, `[[${headerText(parent)}]]`, parent, value);
    if (isObject(value))
      return appendTables(text, `[${headerText([...parent, key])}]`, [...parent, key], value);
    return insertLine(text, top, parent, key, value);
  },
  remove: (text, keys) => {
    const top = parse(text);
    const tables = top.body.filter((node) => node.type === 'TOMLTable' && startsWith(node.resolvedKey, keys));
    if (tables.length > 0) return removeTables(text, tables);
    const pair = pairAt(text, keys);
    if (pair.parent.type === 'TOMLInlineTable')
      return removeItem(text, bracketed(pair.parent), pair.parent.body.indexOf(pair), 'hash');
    return removeLines(text, pair.range[0], pair.range[1]);
  },
};

function parse(text: string): AST.TOMLTopLevelTable {
  return parseTOML(text, { tomlVersion: '1.0' }).body[0];
}

function read(text: string): ReadResult {
  try {
    const value = plain(getStaticTOMLValue(parse(text)));
    return isObject(value)
      ? { ok: true, value }
      : { ok: false, problem: 'It holds no settings', line: 1, column: 1 };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const { column, lineNumber, message } = error;
    return { ok: false, problem: `It is not valid TOML: ${message}`, line: lineNumber, column: column + 1 };
  }
}

function plain(value: unknown): Json {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** The keys that lead to a container. */
function baseOf(container: Container): readonly Key[] {
  if (container.type === 'TOMLTable') return container.resolvedKey;
  if (container.type === 'TOMLTopLevelTable') return [];
  return keysOfValue(container);
}

function keysOfValue(node: AST.TOMLContentNode): readonly Key[] {
  const { parent } = node;
  if (parent.type === 'TOMLArray') return [...keysOfValue(parent), parent.elements.indexOf(node)];
  return [...baseOf(parent.parent), ...namesOf(parent.key)];
}

function namesOf(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
}

/** Every `key = value` of the file with the keys that lead to it. */
function pairs(top: AST.TOMLTopLevelTable): { pair: AST.TOMLKeyValue; keys: readonly Key[] }[] {
  const list: { pair: AST.TOMLKeyValue; keys: readonly Key[] }[] = [];
  const visit = (pair: AST.TOMLKeyValue): void => {
    list.push({ pair, keys: keysOfValue(pair.value) });
    visitValue(pair.value);
  };
  const visitValue = (value: AST.TOMLContentNode): void => {
    if (value.type === 'TOMLInlineTable') value.body.forEach(visit);
    if (value.type === 'TOMLArray') value.elements.forEach(visitValue);
  };
  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') visit(node);
    else node.body.forEach(visit);
  }
  return list;
}

function pairAt(text: string, keys: readonly Key[]): AST.TOMLKeyValue {
  const match = pairs(parse(text)).find((one) => same(one.keys, keys));
  if (match === undefined) throw new FileEditError(`${keys.join('.')} is spread over several places`);
  return match.pair;
}

/** The inline table or array at `keys`, or null when no value stands there, as for tables with a header. */
function inlineAt(
  top: AST.TOMLTopLevelTable,
  keys: readonly Key[],
): AST.TOMLInlineTable | AST.TOMLArray | null {
  let match: AST.TOMLInlineTable | AST.TOMLArray | null = null;
  const visit = (value: AST.TOMLContentNode): void => {
    if (value.type === 'TOMLValue') return;
    if (same(keysOfValue(value), keys)) match = value;
    if (value.type === 'TOMLArray') value.elements.forEach(visit);
  };
  for (const { pair } of pairs(top)) visit(pair.value);
  return match;
}

function bracketed(node: AST.TOMLInlineTable | AST.TOMLArray) {
  const children = node.type === 'TOMLArray' ? node.elements : node.body;
  return {
    open: node.range[0] + 1,
    close: node.range[1] - 1,
    items: children.map(({ range }) => ({ start: range[0], end: range[1] })),
  };
}

function insertInline(
  text: string,
  holder: AST.TOMLInlineTable | AST.TOMLArray,
  key: Key,
  value: Json,
): string {
  const item = typeof key === 'number' ? inlineValue(value) : `${keyText(key)} = ${inlineValue(value)}`;
  const list = bracketed(holder);
  // TOML 1.0 allows no line break in an inline table.
  if (holder.type === 'TOMLInlineTable' && list.items.length === 0)
    return spliced(text, [{ start: list.open, end: list.close, text: ` ${item} ` }]);
  return insertItem(text, list, () => item, layoutOf(text), 'hash');
}

/** Adds `key = value` to the table `parent`: behind its last line, or as the first line of the file. */
function insertLine(
  text: string,
  top: AST.TOMLTopLevelTable,
  parent: readonly Key[],
  key: string,
  value: Json,
): string {
  const { eol } = layoutOf(text);
  const line = `${keyText(key)} = ${inlineValue(value)}`;
  const table = top.body.find((node) => node.type === 'TOMLTable' && same(node.resolvedKey, parent));
  if (table?.type === 'TOMLTable')
    return afterLine(text, (table.body.at(-1) ?? table.key).range[1], line, eol);
  const own = top.body.filter((node) => node.type === 'TOMLKeyValue');
  if (parent.length === 0) {
    const last = own.at(-1);
    return last === undefined
      ? beforeTables(text, top, line, eol)
      : afterLine(text, last.range[1], line, eol);
  }
  const dotted = pairs(top).findLast(({ keys, pair }) => isDotted(pair, keys, parent));
  if (dotted !== undefined) {
    const { length } = baseOf(dotted.pair.parent);
    const name = [...parent, key].slice(length).map((part) => keyText(String(part)));
    return afterLine(text, dotted.pair.range[1], `${name.join('.')} = ${inlineValue(value)}`, eol);
  }
  return appendTables(text, `[${headerText(parent)}]`, parent, { [key]: value });
}

/** True when `pair` defines `parent` by a dotted key in a table with a header, or at the top. */
function isDotted(pair: AST.TOMLKeyValue, keys: readonly Key[], parent: readonly Key[]): boolean {
  const holder = pair.parent;
  if (holder.type === 'TOMLInlineTable') return false;
  return startsWith(keys, parent) && keys.length > parent.length && baseOf(holder).length < parent.length;
}

function afterLine(text: string, offset: number, line: string, eol: string): string {
  const at = lineEnd(text, offset);
  return spliced(text, [{ start: at, end: at, text: eol + line }]);
}

/** The first key of a file that has none: above the first table and the comments that belong to it. */
function beforeTables(text: string, top: AST.TOMLTopLevelTable, line: string, eol: string): string {
  const [table] = top.body;
  if (table === undefined) {
    if (text === '' || text.endsWith('\n')) return `${text}${line}${eol}`;
    return `${text}${eol}${line}`;
  }
  let at = lineStart(text, table.range[0]);
  while (at > 0 && /^[ \t]*#/.test(text.slice(lineStart(text, at - 1), at))) at = lineStart(text, at - 1);
  return spliced(text, [{ start: at, end: at, text: `${line}${eol}${eol}` }]);
}

/** Adds tables at the end of the file, set off by a blank line. */
function appendTables(text: string, header: string, keys: readonly Key[], value: Json): string {
  if (!isObject(value)) throw new FileEditError(`${keys.join('.')} holds tables only`);
  const { eol } = layoutOf(text);
  const added = tableText(header, keys.map(String), value).join(eol);
  if (text.trim() === '') return `${text}${added}${eol}`;
  return text.endsWith('\n') ? `${text}${eol}${added}${eol}` : `${text}${eol}${eol}${added}`;
}

function removeTables(text: string, tables: readonly (AST.TOMLKeyValue | AST.TOMLTable)[]): string {
  return tables.reduceRight((rest, { range }) => removeLines(rest, range[0], range[1]), text);
}

/** Cuts whole lines; when a blank line stood above the last lines of the file, that as well. */
function removeLines(text: string, from: number, to: number): string {
  let start = lineStart(text, from);
  const end = nextLine(text, to);
  const atEnd = text.slice(end).trim() === '';
  if (
    text
      .slice(lineStart(text, to - 1), end)
      .trimStart()
      .startsWith('#') ||
    !atEnd
  )
    return spliced(text, [{ start, end, text: '' }]);
  while (start > 0 && text.slice(lineStart(text, start - 1), start).trim() === '')
    start = lineStart(text, start - 1);
  const cut = text.slice(0, start);
  return text.endsWith('\n') ? cut : cut.replace(/\r?\n$/, '');
}

function headerText(keys: readonly Key[]): string {
  return keys
    .filter((key) => typeof key === 'string')
    .map(keyText)
    .join('.');
}

function same(a: readonly Key[], b: readonly Key[]): boolean {
  return a.length === b.length && startsWith(a, b);
}

function startsWith(keys: readonly Key[], prefix: readonly Key[]): boolean {
  return prefix.every((key, index) => keys[index] === key);
}
