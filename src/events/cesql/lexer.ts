import type { Span } from './error.ts';
import { integerOfText } from './value.ts';

export type Keyword = 'AND' | 'OR' | 'XOR' | 'NOT' | 'LIKE' | 'EXISTS' | 'IN' | 'TRUE' | 'FALSE';
export type Punctuation =
  | '('
  | ')'
  | ','
  | '*'
  | '/'
  | '%'
  | '+'
  | '-'
  | '='
  | '!='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>=';

export type Token = Span &
  (
    | { readonly type: 'symbol'; readonly symbol: Punctuation }
    | { readonly type: 'keyword'; readonly keyword: Keyword }
    | { readonly type: 'integer'; readonly value: number }
    /** `doubled`: a doubled quote stands in it, which other SQL dialects read as one. */
    | { readonly type: 'string'; readonly value: string; readonly doubled: boolean }
    /** Letters, digits and underscores: an attribute or a function. */
    | { readonly type: 'name'; readonly text: string }
    | { readonly type: 'end' }
  );

/** A text that is no CESQL, for the parser to report. */
export interface LexicalError extends Span {
  readonly type: 'error';
  readonly message: string;
}

const keywords: ReadonlyMap<string, Keyword> = new Map(
  (['AND', 'OR', 'XOR', 'NOT', 'LIKE', 'EXISTS', 'IN', 'TRUE', 'FALSE'] as const).map((word) => [word, word]),
);
/** Longer ones first. */
const symbols: readonly Punctuation[] = [
  '!=',
  '<>',
  '<=',
  '>=',
  '(',
  ')',
  ',',
  '*',
  '/',
  '%',
  '+',
  '-',
  '=',
  '<',
  '>',
];
/** Symbols that look right to people who know other languages. */
const instead: Readonly<Record<string, string>> = {
  '&': 'Write AND.',
  '|': 'Write OR.',
  '!': 'Write NOT.',
  '^': 'Write XOR.',
  '`': 'Write attributes without quotes, and texts in \'…\' or "…".',
  '.': 'An attribute has no fields, and numbers have no fractions.',
  _: 'Names of functions start with a letter.',
  '\u00a0': 'Write an ordinary space.',
};

const isSpace = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const isNamePart = (code: number): boolean => isLetter(code) || isDigit(code) || code === 95;

/**
 * Reads the token at or behind `from`.
 * @param operand true where an operand may stand: only there is a sign before digits part of the number, so that
 *   `4-1` is a subtraction
 */
export function tokenAt(text: string, from: number, operand: boolean): Token | LexicalError {
  let start = from;
  while (isSpace(text.charCodeAt(start))) start += 1;
  if (start >= text.length) return { type: 'end', start: text.length, end: text.length };
  const code = text.charCodeAt(start);
  if (code === 39 || code === 34) return stringAt(text, start);
  if (isLetter(code) || isDigit(code)) return wordAt(text, start);
  if (operand && (code === 45 || code === 43)) {
    const end = digitsEnd(text, start + 1);
    if (end > start + 1 && !isNamePart(text.charCodeAt(end))) return integerAt(text, start, end);
  }
  const symbol = symbols.find((candidate) => text.startsWith(candidate, start));
  if (symbol !== undefined) return { type: 'symbol', symbol, start, end: start + symbol.length };
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  const hint = instead[character];
  return {
    type: 'error',
    message: `Unexpected character ${JSON.stringify(character)}.${hint === undefined ? '' : ` ${hint}`}`,
    start,
    end: start + character.length,
  };
}

function digitsEnd(text: string, from: number): number {
  let end = from;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function wordAt(text: string, start: number): Token | LexicalError {
  let end = start + 1;
  while (isNamePart(text.charCodeAt(end))) end += 1;
  if (digitsEnd(text, start) === end) return integerAt(text, start, end);
  const word = text.slice(start, end);
  const keyword = keywords.get(word.toUpperCase());
  return keyword === undefined
    ? { type: 'name', text: word, start, end }
    : { type: 'keyword', keyword, start, end };
}

function integerAt(text: string, start: number, end: number): Token | LexicalError {
  const value = integerOfText(text.slice(start, end));
  if (value !== undefined) return { type: 'integer', value, start, end };
  return {
    type: 'error',
    message: 'This integer does not fit: integers are from -2147483648 to 2147483647.',
    start,
    end,
  };
}

/** Only the quote that encloses a text is escaped in it; every other backslash stands for itself. */
function stringAt(text: string, start: number): Token | LexicalError {
  const quote = text.charAt(start);
  let value = '';
  let doubled = false;
  let contentStart = start + 1;
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') {
      index += 1;
      if (text.charAt(index) !== quote) continue;
      value += text.slice(contentStart, index - 1);
      contentStart = index;
    } else if (character === quote) {
      if (text.charAt(index + 1) !== quote) {
        value += text.slice(contentStart, index);
        return { type: 'string', value, doubled, start, end: index + 1 };
      }
      doubled = true;
      index += 1;
    }
  }
  const message = `This text has no end: a closing ${quote} is missing.`;
  return { type: 'error', message, start, end: start + 1 };
}
