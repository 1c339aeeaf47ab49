import type { IncomingHttpHeaders } from 'node:http';
import { fieldName, fieldValue, LINE_END, validLines } from '../field-lines.ts';
import { ExchangeError } from './error.ts';

/** Where the body of a response ends (RFC 9112, 6.3). */
export type Framing =
  | { kind: 'none' }
  | { kind: 'length'; bytes: number }
  | { kind: 'chunked' }
  | { kind: 'until-close' };

export interface ResponseHead {
  status: number;
  /** Names in lower case; a list where a name came more than once. */
  headers: IncomingHttpHeaders;
  framing: Framing;
  /** Whether the server takes another request on this connection, according to the head. */
  persistent: boolean;
  /** For how long the server keeps an idle connection, in milliseconds (`Keep-Alive: timeout=5`); null where it does not say. */
  keepAliveMs: number | null;
}

const digits = /^[0-9]{1,15}$/;
const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: |$)/;

/**
 * Reads the head of a response. Whatever two readers could take for two different bodies is refused (RFC 9112, 11.2).
 * @param text the head as Latin-1, without the blank line after it
 * @throws ExchangeError `HPE_…`
 */
export function parseResponseHead(text: string): ResponseHead {
  if (!validLines.test(text))
    throw new ExchangeError('HPE_INVALID_HEADER_TOKEN', 'a control character in the head');
  const firstEnd = text.indexOf(LINE_END);
  const [, minor, code] = statusLine.exec(firstEnd === -1 ? text : text.slice(0, firstEnd)) ?? [];
  if (code === undefined) throw new ExchangeError('HPE_INVALID_CONSTANT', 'the status line is not HTTP/1.1');
  const status = Number(code);
  const headers = firstEnd === -1 ? {} : parseFields(text, firstEnd + LINE_END.length);
  const options = optionsOf(headers.connection);
  return {
    status,
    headers,
    framing: framingOf(status, headers),
    persistent: minor === '1' ? !options.includes('close') : options.includes('keep-alive'),
    keepAliveMs: keepAliveOf(headers['keep-alive']),
  };
}

/**
 * Reads fields, as they stand in a head and in a trailer.
 * @param text lines, without a blank one after them
 * @throws ExchangeError `HPE_…`
 */
export function parseFields(text: string, from: number): IncomingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let start = from; start < text.length; ) {
    const lineEnd = text.indexOf(LINE_END, start);
    const end = lineEnd === -1 ? text.length : lineEnd;
    const colon = text.indexOf(':', start);
    const name = colon === -1 || colon >= end ? null : fieldName(text.slice(start, colon));
    if (name === null)
      throw new ExchangeError('HPE_INVALID_HEADER_TOKEN', 'a line of the head is not a field');
    const value = fieldValue(text, colon + 1, end);
    const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (earlier === undefined) {
      if (name !== '__proto__') headers[name] = value;
    } else if (typeof earlier === 'string') headers[name] = [earlier, value];
    else earlier.push(value);
    start = end + LINE_END.length;
  }
  return headers;
}

function optionsOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return String(value)
    .split(',')
    .map((option) => option.trim().toLowerCase());
}

function framingOf(status: number, headers: IncomingHttpHeaders): Framing {
  const coding = headers['transfer-encoding'] as string | string[] | undefined;
  const length = headers['content-length'] as string | string[] | undefined;
  if (coding !== undefined && length !== undefined)
    throw new ExchangeError('HPE_UNEXPECTED_CONTENT_LENGTH', 'Content-Length beside Transfer-Encoding');
  const bytes = length === undefined ? null : lengthOf(length);
  if (status < 200 || status === 204 || status === 304) return { kind: 'none' };
  if (coding !== undefined) {
    const codings = optionsOf(coding);
    const chunked = codings.filter((one) => one === 'chunked').length;
    if (chunked > 1 || (chunked === 1 && codings.at(-1) !== 'chunked'))
      throw new ExchangeError('HPE_INVALID_TRANSFER_ENCODING', 'chunked is not the last transfer coding');
    return { kind: chunked === 1 ? 'chunked' : 'until-close' };
  }
  return bytes === null ? { kind: 'until-close' } : { kind: 'length', bytes };
}

function lengthOf(value: string | string[]): number {
  if (typeof value !== 'string')
    throw new ExchangeError('HPE_UNEXPECTED_CONTENT_LENGTH', 'more than one Content-Length');
  if (!digits.test(value))
    throw new ExchangeError('HPE_INVALID_CONTENT_LENGTH', 'Content-Length is not a number');
  return Number(value);
}

function keepAliveOf(value: string | string[] | undefined): number | null {
  const seconds = value === undefined ? undefined : /timeout=(\d{1,9})/i.exec(String(value))?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
