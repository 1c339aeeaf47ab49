import { randomBytes } from 'node:crypto';

/** Shorter texts cost about as much to carry as to read and to write. */
const LONG = 256;

/**
 * Fields that hold what was said, as they stand in JSON without white space. The quote after such a name is not
 * escaped and a colon follows it, so that it ends a name wherever it stands, and the quote at the end begins a text.
 */
const ANCHOR = /"(?:text|content)":"/;

/**
 * What stands for a carried text. It is random, so that it cannot be guessed, and before it comes a character that JSON
 * must escape, which shows how deep in JSON within JSON the text ended up.
 */
const MARK = randomBytes(12).toString('hex');

/** A JSON body without its long texts. */
export interface CarriedTexts {
  /** The body with a mark in the place of each long text. */
  body: string;
  /** JSON that was made of it, with the texts where their marks are, as they came; null where that cannot be said. */
  putBack(json: string): string | null;
}

/**
 * Takes long texts out of a body that is to be read and written anew, for both look at every character of them. Only
 * for ways that pass texts on without looking into them. Null when there are none. As in a body that is relayed, what
 * stands inside such a text is not checked.
 */
export function carryLongTexts(body: string): CarriedTexts | null {
  const texts: string[] = [];
  let shortened = '';
  let from = 0;
  const anchor = new RegExp(ANCHOR, 'g');
  while (anchor.test(body)) {
    const start = anchor.lastIndex;
    const end = textEnd(body, start);
    if (end === -1) return null;
    anchor.lastIndex = end;
    if (end - start < LONG) continue;
    shortened += `${body.slice(from, start)}${markOf(texts.length)}`;
    texts.push(body.slice(start, end));
    from = end;
  }
  if (texts.length === 0) return null;
  return { body: shortened + body.slice(from), putBack: (json) => putBack(json, texts) };
}

/** Whether a value of such a body holds the mark of a text that was taken out. */
export function hasMark(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith(`\u0001${MARK}`);
  if (typeof value !== 'object' || value === null) return false;
  for (const inner of Object.values(value)) if (hasMark(inner)) return true;
  return false;
}

/** The index of the quote that ends the text at `start`; -1 when none does. */
function textEnd(body: string, start: number): number {
  let quote = body.indexOf('"', start);
  while (quote !== -1) {
    if (backslashesBefore(body, quote, start) % 2 === 0) return quote;
    quote = body.indexOf('"', quote + 1);
  }
  return -1;
}

export function backslashesBefore(text: string, end: number, start: number): number {
  let index = end;
  while (index > start && text.charCodeAt(index - 1) === 0x5c) index -= 1;
  return end - index;
}

/** What stands in JSON for the carried text of a number. */
export function markOf(index: number): string {
  return `\\u0001${MARK}${index}.`;
}

/** The escape before a mark, without its backslashes. */
const ESCAPE = 'u0001';

/** Where a mark stands in JSON. */
export interface MarkSpan {
  start: number;
  end: number;
  /** Of the carried text. */
  index: number;
  /** Backslashes that one of the text takes there: one at the surface, two in JSON within JSON, then four. */
  backslashes: number;
}

/** The marks in JSON that was made of a body with carried texts, in order; null where one was taken apart. */
export function marksIn(json: string): MarkSpan[] | null {
  const spans: MarkSpan[] = [];
  for (let at = json.indexOf(MARK); at !== -1; at = json.indexOf(MARK, at + MARK.length)) {
    const escaped = at - ESCAPE.length;
    const end = json.indexOf('.', at);
    if (end === -1 || !json.startsWith(ESCAPE, escaped)) return null;
    const before = backslashesBefore(json, escaped, 0);
    // A backslash of the text before it has twice as many as that of the mark.
    const backslashes = before & -before;
    if (backslashes === 0) return null;
    const index = Number(json.slice(at + MARK.length, end));
    spans.push({ start: escaped - backslashes, end: end + 1, index, backslashes });
  }
  return spans;
}

function putBack(json: string, texts: readonly string[]): string | null {
  const spans = marksIn(json);
  if (spans === null) return null;
  let result = '';
  let from = 0;
  for (const { backslashes, end, index, start } of spans) {
    const text = texts[index];
    const escapedText = text === undefined ? null : textAt(text, backslashes);
    if (escapedText === null) return null;
    result += json.slice(from, start) + escapedText;
    from = end;
  }
  return result + json.slice(from);
}

/** A text in JSON as it stands where one of its backslashes takes so many; null for one that is no JSON. */
function textAt(text: string, backslashes: number): string | null {
  return backslashes === 1 ? text : escapedIn(text, backslashes);
}

/** A text as it stands inside JSON within JSON, where `backslashes` are what one of them takes. */
function escapedIn(text: string, backslashes: number): string | null {
  try {
    let escapedText: string = JSON.parse(`"${text}"`);
    for (let depth = 1; depth <= backslashes; depth *= 2)
      escapedText = JSON.stringify(escapedText).slice(1, -1);
    return escapedText;
  } catch {
    return null;
  }
}
