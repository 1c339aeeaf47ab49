/** A media type of RFC 2045 and 2046, taken apart. */
export interface MediaType {
  /** In lower case, without parameters: `application/json`. */
  readonly essence: string;
  /** In lower case; null when none is given. */
  readonly charset: string | null;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** @returns null when `text` is no media type */
export function parseMediaType(text: string): MediaType | null {
  const [essence = '', ...parameters] = splitOutsideQuotes(text);
  const [type, subtype] = halves(essence, '/');
  if (!token.test(type) || !token.test(subtype)) return null;
  let charset: string | null = null;
  for (const parameter of parameters) {
    if (parameter === '') continue;
    const [name, written] = halves(parameter, '=');
    const value = parameterValue(written);
    if (!token.test(name) || value === null) return null;
    if (name.toLowerCase() === 'charset') charset = value.toLowerCase();
  }
  return { essence: essence.toLowerCase(), charset };
}

/** Subtype `json` or a suffix `+json`: the types whose data CloudEvents treats as JSON. */
export function isJson({ essence }: MediaType): boolean {
  return essence.endsWith('/json') || essence.endsWith('+json');
}

/** Text in an encoding that JSON strings can carry. */
export function isText({ essence, charset }: MediaType): boolean {
  const textual = essence.startsWith('text/') || essence.endsWith('/xml') || essence.endsWith('+xml');
  return textual && isUtf8Charset(charset);
}

/** ASCII is a part of UTF-8, which is the default. */
export function isUtf8Charset(charset: string | null): boolean {
  return charset === null || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
}

/** What stands before and behind the separator; nothing behind when there is none. */
function halves(text: string, separator: string): [before: string, behind: string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** The pieces between semicolons, trimmed. */
function splitOutsideQuotes(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (quoted && character === '\\') index += 1;
    else if (character === '"') quoted = !quoted;
    else if (character === ';' && !quoted) {
      pieces.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  pieces.push(text.slice(start).trim());
  return pieces;
}

function parameterValue(text: string): string | null {
  if (!text.startsWith('"')) return token.test(text) ? text : null;
  if (text.length < 2 || !text.endsWith('"') || !/^[\t\x20-\x7e]*$/.test(text)) return null;
  const inner = text.slice(1, -1);
  let value = '';
  for (let index = 0; index < inner.length; index += 1) {
    if (inner[index] === '"') return null;
    if (inner[index] === '\\') index += 1;
    if (index >= inner.length) return null;
    value += inner[index];
  }
  return value;
}

/** How a message carries its event or events, told by its content type. */
export type ContentMode = 'binary' | 'structured' | 'batched' | 'unknown-format';

/** JSON is the only format of the structured and the batched mode; a type that names no format means it. */
export function contentModeOf(contentType: string | null | undefined): ContentMode {
  const text = contentType?.trim().toLowerCase() ?? '';
  if (!text.startsWith('application/cloudevents')) return 'binary';
  const type = parseMediaType(text);
  if (type === null || !isUtf8Charset(type.charset)) return 'unknown-format';
  switch (type.essence) {
    case 'application/cloudevents+json':
    case 'application/cloudevents':
      return 'structured';
    case 'application/cloudevents-batch+json':
    case 'application/cloudevents-batch':
      return 'batched';
    default:
      return 'unknown-format';
  }
}

export const structuredType = 'application/cloudevents+json; charset=utf-8';
export const batchedType = 'application/cloudevents-batch+json; charset=utf-8';
