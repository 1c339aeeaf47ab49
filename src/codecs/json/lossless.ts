import { BACKSLASH, QUOTE } from './bytes.ts';

/**
 * JSON whose numbers keep the digits in which they were written. A double cannot hold 1234567890123456789, and
 * has one text for 1 and 1.0: ids of tools and of their results would name something else.
 */

/**
 * JavaScript's own way to write a number by its text (ECMAScript 2026, `JSON.rawJSON`). Every supported Node has it; an older
 * browser writes the nearest double.
 */
const raw = JSON as JSON & {
  isRawJSON?(value: unknown): boolean;
  rawJSON?(text: string): unknown;
};

/** True for what a replacer of `JSON.stringify` gets for such a number: it must stay as it is. */
export function isRawJSON(value: unknown): boolean {
  return raw.isRawJSON?.(value) === true;
}

/** A number that JavaScript would write with other characters than it was read: 1.0, 1e400, -0, 1234567890123456789. */
export class LosslessNumber {
  readonly text: string;

  /** @param text a number by the grammar of RFC 8259 */
  constructor(text: string) {
    this.text = text;
  }

  /** For `JSON.stringify`. */
  toJSON(): unknown {
    return raw.rawJSON?.(this.text) ?? Number(this.text);
  }
}

/** The number that a JSON value is, however it was written; null for any other value. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  return value instanceof LosslessNumber ? Number(value.text) : null;
}

/**
 * As `JSON.parse`, but numbers that would be written with other characters are instances of `LosslessNumber`. Texts
 * without any, as nearly all are, cost one look at each character more.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const first = nextLossy(text, 0);
  return first === null ? JSON.parse(text) : unmarked(JSON.parse(marked(text, first)));
}

/** What `JSON.parse` made of a text, its numbers as `parseJson` has them. */
export function withDigits<T extends object>(value: T, text: string): T {
  const first = nextLossy(text, 0);
  return first === null ? value : (unmarked(JSON.parse(marked(text, first))) as T);
}

/** A number in a text. */
interface NumberSpan {
  start: number;
  end: number;
}

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

/** Whole numbers of so many digits are the same as doubles. */
const EXACT_DIGITS = 15;

/** The next number from `from` on, which is outside any string, that JavaScript writes differently; null for none. */
function nextLossy(text: string, from: number): NumberSpan | null {
  for (let index = from; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = closingQuote(text, index + 1);
      continue;
    }
    if (code > NINE || (code < ZERO && code !== MINUS)) continue;
    let end = index + 1;
    let next = text.charCodeAt(end);
    while (next >= ZERO && next <= NINE) next = text.charCodeAt(++end);
    const isPlain = next !== DOT && next !== LOWER_E && next !== UPPER_E && end - index <= EXACT_DIGITS;
    if (!isPlain || code === MINUS) {
      end = numberEnd(text, index);
      const written = text.slice(index, end);
      if (String(Number(written)) !== written) return { start: index, end };
    }
    index = end - 1;
  }
  return null;
}

/** Strings longer than this are cheaper to skip by a native search than character by character. */
const NEAR = 40;

/** The index of the quote that ends the string at `from`; the end of the text when none does. */
function closingQuote(text: string, from: number): number {
  const near = Math.min(text.length, from + NEAR);
  let index = from;
  while (index < near) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    index += code === BACKSLASH ? 2 : 1;
  }
  return farQuote(text, index);
}

function farQuote(text: string, from: number): number {
  let index = text.indexOf('"', from);
  while (index !== -1) {
    let before = index - 1;
    while (before >= from && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((index - 1 - before) % 2 === 0) return index;
    index = text.indexOf('"', index + 1);
  }
  return text.length;
}

const NUMBER_CHARACTERS = /[-+.\deE]*/y;

function numberEnd(text: string, start: number): number {
  NUMBER_CHARACTERS.lastIndex = start;
  NUMBER_CHARACTERS.test(text);
  return NUMBER_CHARACTERS.lastIndex;
}

/**
 * What stands for a number until the text is parsed: a random text that cannot be guessed. Names of fields
 * cannot come to hold it, for a colon follows them. It is short, and no character of it needs an escape: a text may
 * have very many numbers.
 */
function newMark(): string {
  const [one = 0, two = 0] = crypto.getRandomValues(new Uint32Array(2));
  return `\u007f${one.toString(36)}${two.toString(36)}`;
}

/** Made with the first text that needs one: some runtimes have no random numbers while modules are loaded. */
let mark: string | null = null;

/** By the grammar of RFC 8259. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const FOLLOWS_VALUE = /[\t\n\r ]*(?:[,\]}]|$)/y;

/** The text with a mark in the place of each such number. What is no number by the grammar stays for the parser to refuse. */
function marked(text: string, first: NumberSpan): string {
  mark ??= newMark();
  const pieces: string[] = [];
  let from = 0;
  for (let span: NumberSpan | null = first; span !== null; span = nextLossy(text, span.end)) {
    const written = text.slice(span.start, span.end);
    FOLLOWS_VALUE.lastIndex = span.end;
    if (!NUMBER.test(written) || !FOLLOWS_VALUE.test(text)) continue;
    pieces.push(text.slice(from, span.start), `"${mark}`, written, '"');
    from = span.end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

/** The value with the numbers in the place of their marks. Without recursion: JSON can be read to any depth. */
function unmarked(value: unknown): unknown {
  const root = [value];
  const waiting: object[] = [root];
  const read = (inner: unknown): unknown => {
    if (typeof inner === 'object' && inner !== null) waiting.push(inner);
    else if (typeof inner === 'string' && mark !== null && inner.startsWith(mark))
      return new LosslessNumber(inner.slice(mark.length));
    return inner;
  };
  for (let container = waiting.pop(); container !== undefined; container = waiting.pop()) {
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index += 1) {
        const inner = container[index];
        const number = read(inner);
        if (number !== inner) container[index] = number;
      }
    } else {
      const fields = container as Record<string, unknown>;
      for (const name of Object.keys(fields)) {
        const inner = fields[name];
        const number = read(inner);
        if (number !== inner) fields[name] = number;
      }
    }
  }
  return root[0];
}
