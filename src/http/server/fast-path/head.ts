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
 * @param text the head as Latin-1, without the blank line after it
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

/** Reads the heads of one connection, as `simpleHead` does. */
export type HeadReader = (text: string) => SimpleHead | null;

/** The last head that was read, and its parts that a head with another length shares. */
interface LastHead {
  /** The text before and after the length. */
  before: string;
  after: string;
  head: SimpleHead;
  /** In lower case. */
  names: readonly string[];
  /** Where `rawHeaders` has the length. */
  lengthAt: number;
}

/** A reader that knows the last head of its connection: most clients send the same with each request, but for the length. */
export function createHeadReader(): HeadReader {
  let last: LastHead | null = null;
  return (text) => {
    const repeated = last && repeatedHead(last, text);
    if (repeated !== null) return repeated;
    const head = simpleHead(text);
    last = head && lastHead(head, text);
    return head;
  };
}

function lastHead(head: SimpleHead, text: string): LastHead {
  // Not the keys of `headers`, which begin with names that are numbers.
  const names = head.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const lengthAt = 2 * names.indexOf('content-length') + 1;
  const field = text.indexOf(`${LINE_END}${head.rawHeaders[lengthAt - 1]}:`);
  const from = text.indexOf(String(head.length), field);
  return {
    before: text.slice(0, from),
    after: text.slice(from + String(head.length).length),
    head,
    names,
    lengthAt,
  };
}

function repeatedHead({ after, before, head, lengthAt, names }: LastHead, text: string): SimpleHead | null {
  const to = text.length - after.length;
  if (to <= before.length || text.slice(0, before.length) !== before || text.slice(to) !== after) return null;
  const length = text.slice(before.length, to);
  if (!digits.test(length)) return null;
  const rawHeaders = [...head.rawHeaders];
  rawHeaders[lengthAt] = length;
  const headers: Record<string, string> = {};
  for (let index = 0; index < names.length; index += 1)
    headers[names[index] ?? ''] = rawHeaders[2 * index + 1] ?? '';
  return { target: head.target, rawHeaders, headers, length: Number(length) };
}
