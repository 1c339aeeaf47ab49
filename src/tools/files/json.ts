import {
  getNodeValue,
  type Node,
  type ParseError,
  type ParseOptions,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { type BracketedList, insertItem, removeItem } from './bracketed.ts';
import type { ReadResult, Syntax } from './format.ts';
import { indentAt, layoutOf, placeOf, spliced } from './layout.ts';
import type { Key } from './path.ts';
import { FileEditError, isObject, type Json } from './value.ts';

/** JSON as RFC 8259 has it. */
export const jsonSyntax: Syntax = syntaxWith({ disallowComments: true, allowTrailingComma: false });

/** JSON with comments and trailing commas, as editors and many tools read it. */
export const jsoncSyntax: Syntax = syntaxWith({ disallowComments: false, allowTrailingComma: true });

function syntaxWith(options: ParseOptions): Syntax {
  return {
    read: (text) => read(text, options),
    replace: (text, keys, value) => {
      const node = nodeAt(root(text, options), keys);
      const rendered = render(value, indentAt(text, node.offset), text);
      return spliced(text, [{ start: node.offset, end: node.offset + node.length, text: rendered }]);
    },
    insert: (text, parent, key, value) => {
      if (isBlank(text)) return `${JSON.stringify({ [key]: value }, null, 2)}\n`;
      const layout = layoutOf(text);
      const list = nodeAt(root(text, options), parent);
      const name = typeof key === 'string' ? `${JSON.stringify(key)}: ` : '';
      const item = (indent: string, inline: boolean) =>
        name + (inline ? JSON.stringify(value) : render(value, indent, text));
      return insertItem(text, bracketed(list), item, layout, 'slash');
    },
    remove: (text, keys) => {
      const list = nodeAt(root(text, options), keys.slice(0, -1));
      return removeItem(text, bracketed(list), childIndex(list, keys.at(-1) ?? ''), 'slash');
    },
  };
}

function read(text: string, options: ParseOptions): ReadResult {
  if (isBlank(text)) return { ok: true, value: {} };
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, options);
  const [error] = errors;
  if (error !== undefined) return { ok: false, problem: problemOf(error), ...placeOf(text, error.offset) };
  // The parser's objects have no prototype, and so are equal to none of ours.
  const value: unknown = tree === undefined ? undefined : JSON.parse(JSON.stringify(getNodeValue(tree)));
  if (isObject(value)) return { ok: true, value };
  return { ok: false, problem: 'The file is not an object', line: 1, column: 1 };
}

function problemOf({ error }: ParseError): string {
  const words = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return `It is not valid JSON: ${words}`;
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function root(text: string, options: ParseOptions): Node {
  const tree = parseTree(text, [], options);
  if (tree === undefined) throw new FileEditError('The file is empty');
  return tree;
}

function nodeAt(tree: Node, keys: readonly Key[]): Node {
  let node = tree;
  for (const key of keys) {
    const child = node.children?.[childIndex(node, key)];
    const value = child?.type === 'property' ? child.children?.[1] : child;
    if (value === undefined) throw new FileEditError(`${key} was not found`);
    node = value;
  }
  return node;
}

/** Of two fields of one name the later counts, as in JavaScript. */
function childIndex(node: Node, key: Key): number {
  if (typeof key === 'number') return key;
  return (node.children ?? []).findLastIndex((child) => child.children?.[0]?.value === key);
}

function bracketed({ children = [], length, offset }: Node): BracketedList {
  return {
    open: offset + 1,
    close: offset + length - 1,
    items: children.map((child) => ({ start: child.offset, end: child.offset + child.length })),
  };
}

function render(value: Json, indent: string, text: string): string {
  const { eol, unit } = layoutOf(text);
  return JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`);
}
