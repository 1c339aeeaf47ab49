import type { ReadResult, Syntax } from './format.ts';
import { layoutOf, nextLine, spliced } from './layout.ts';
import type { Key } from './path.ts';
import { FileEditError, type Json } from './value.ts';

interface Assignment {
  name: string;
  value: string;
  /** Of the value with its quotes. */
  start: number;
  end: number;
  /** Of the line, without its line break. */
  line: number;
}

/** Files of `NAME=value` lines as dotenv reads them: `export`, quotes, comments; of two lines the later counts. */
export const envSyntax: Syntax = {
  read,
  replace: (text, keys, value) => {
    const { end, start } = lastOf(text, keys[0]);
    return spliced(text, [{ start, end, text: written(value) }]);
  },
  insert: (text, parent, key, value) => {
    if (parent.length > 0) throw new FileEditError('A .env file has no groups');
    const { eol } = layoutOf(text);
    const line = `${key}=${written(value)}`;
    const closed = text === '' || text.endsWith('\n');
    return closed ? `${text}${line}${eol}` : `${text}${eol}${line}`;
  },
  remove: (text, keys) => {
    const { line } = lastOf(text, keys[0]);
    const next = nextLine(text, line);
    const atEnd = next === text.length && !text.endsWith('\n');
    const start = atEnd && line > 0 ? line - (text[line - 2] === '\r' ? 2 : 1) : line;
    return spliced(text, [{ start, end: next, text: '' }]);
  },
};

const pattern = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/;

function assignments(text: string): { list: Assignment[]; problem: number | null } {
  const list: Assignment[] = [];
  let line = 0;
  while (line < text.length) {
    const rest = text.slice(line, nextLine(text, line));
    const match = pattern.exec(rest);
    if (match === null) {
      if (!/^\s*(#|$)/.test(rest)) return { list, problem: line };
      line += rest.length;
      continue;
    }
    const start = line + match[0].length;
    const { end, value } = valueAt(text, start);
    list.push({ name: match[1] ?? '', value, start, end, line });
    line = nextLine(text, end);
  }
  return { list, problem: null };
}

/** A quoted value may go over several lines; a bare one ends at ` #` or at the end of its line. */
function valueAt(text: string, start: number): { value: string; end: number } {
  const quote = text[start];
  if (quote === '"' || quote === "'" || quote === '`') {
    const close = closing(text, start, quote);
    if (close !== -1) {
      const inner = text.slice(start + 1, close);
      const value = quote === '"' ? inner.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : inner;
      return { value, end: close + 1 };
    }
  }
  const line = text.slice(start, nextLine(text, start));
  const comment = line.indexOf('#');
  const bare = (comment === -1 ? line : line.slice(0, comment)).trimEnd();
  return { value: bare, end: start + bare.length };
}

function closing(text: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < text.length) {
    if (text[at] === '\\') at += 2;
    else if (text[at] === quote) return at;
    else at += 1;
  }
  return -1;
}

function read(text: string): ReadResult {
  const { list, problem } = assignments(text);
  if (problem !== null) {
    const line = text.slice(0, problem).split('\n').length;
    return { ok: false, problem: 'It is not a line of the form NAME=value', line, column: 1 };
  }
  return { ok: true, value: Object.fromEntries(list.map(({ name, value }) => [name, value])) };
}

function lastOf(text: string, key: Key | undefined): Assignment {
  const last = assignments(text).list.findLast(({ name }) => name === key);
  if (last === undefined) throw new FileEditError(`${key} was not found`);
  return last;
}

/** Bare where every reader takes it as it is, else in single quotes, in which nothing has a meaning. */
function written(value: Json): string {
  if (typeof value !== 'string') throw new FileEditError('A .env file holds text only');
  if (/^[\w./:@%+,=-]*$/.test(value)) return value;
  if (/['\n\r]/.test(value)) throw new FileEditError('The value has quotes or line breaks');
  return `'${value}'`;
}
