import type { IncomingHttpHeaders } from 'node:http';
import { fieldName, fieldValue, LINE_END, validLines } from '../../field-lines.ts';

/** The head of a POST whose body has a known length. */
export interface SimpleHead {
  /** Path and query, as they stand in the request line. */
  target: string;
  /** Names as they were written and values, in turn. */
  rawHeaders: string[];
  /** By names in lower case. */
  headers: IncomingHttpHeaders;
  /** Bytes of the body. */
  length: number;
}

/** The characters of a path and a query (RFC 3986, 3.3 and 3.4). */
const requestLine = /^POST (\/[!$%&'()*+,\-./:;=?@\w~]*) HTTP\/1\.1$/;
const digits = /^(?:0|[1-9][0-9]{0,8})$/;
const MAX_FIELDS = 64;

/** What changes how a message is read, asks for something before it is, or is more than one text for Node. */
const special: ReadonlySet<string> = new Set([
  '__proto__',
  'expect',
  'http2-settings',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Reads the head of a request where no two readers could understand it in different ways; null for every other one, which
 * Node's parser has to judge: another method or version, a field that came twice or has a strange name, no or an odd
 * `Content-Length`, chunks, an upgrade, a client that closes the connection.
 * @param text the head as Latin-1, without the blank line behind it
 */
export function simpleHead(text: string): SimpleHead | null {
  if (!validLines.test(text)) return null;
  const lineEnd = text.indexOf(LINE_END);
  if (lineEnd === -1) return null;
  const target = requestLine.exec(text.slice(0, lineEnd))?.[1];
  if (target === undefined) return null;
  const rawHeaders: string[] = [];
  const headers: Record<string, string> = {};
  for (let start = lineEnd + LINE_END.length; start < text.length; ) {
    const next = text.indexOf(LINE_END, start);
    const end = next === -1 ? text.length : next;
    const colon = text.indexOf(':', start);
    if (colon === -1 || colon >= end || rawHeaders.length === 2 * MAX_FIELDS) return null;
    const written = text.slice(start, colon);
    const name = fieldName(written);
    if (name === null || special.has(name) || headers[name] !== undefined) return null;
    const value = fieldValue(text, colon + 1, end);
    headers[name] = value;
    rawHeaders.push(written, value);
    start = end + LINE_END.length;
  }
  const { connection = 'keep-alive', 'content-length': length = '' } = headers;
  if (connection.toLowerCase() !== 'keep-alive' || !digits.test(length)) return null;
  return { target, rawHeaders, headers, length: Number(length) };
}
