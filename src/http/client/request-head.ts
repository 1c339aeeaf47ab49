import { fieldName, isFieldValue } from '../field-lines.ts';

/** What is sent before the body. */
export interface RequestHead {
  method: 'POST' | 'GET' | 'DELETE';
  /** As it stands in the request line, with its query. */
  path: string;
  /** Flat name, value, name, value … Without those of the connection, which are its client's own. */
  headers: readonly string[];
}

/** What is known of a body before it is sent. */
export type BodyLength = number | 'unknown' | null;

const invalidPath = /[^\x21-\x7e]/;
/** Of one connection; a request that has them as well would be two requests to another reader (RFC 9112, 11). */
const ownNames: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'te',
  'trailer',
]);

/**
 * The head of a request as Latin-1, with the blank line after it.
 * @param length of the body: bytes, `unknown` for one in chunks, null for none. A `content-length` among the headers is taken
 * where the caller says `unknown`
 * @throws TypeError for a name, a value or a path that HTTP does not have, and for a header that is not the caller's to send
 */
export function requestHead(
  { headers, method, path }: RequestHead,
  host: string,
  length: BodyLength,
  keepAlive: boolean,
): { text: string; declared: BodyLength } {
  if (!path.startsWith('/') || invalidPath.test(path)) throw new TypeError('the path is none of HTTP');
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${keepAlive ? 'keep-alive' : 'close'}\r\n`;
  let declared = length;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!isName(name) || !isFieldValue(value))
      throw new TypeError(`the header ${name.slice(0, 40)} is none of HTTP`);
    if (name === 'content-length') {
      if (length !== 'unknown' || declared !== 'unknown' || !/^[0-9]{1,15}$/.test(value))
        throw new TypeError('the length of the body is not the caller’s to say');
      declared = Number(value);
    } else text += `${name}: ${value}\r\n`;
  }
  if (declared === 'unknown') text += 'transfer-encoding: chunked\r\n';
  else if (declared !== null) text += `content-length: ${declared}\r\n`;
  return { text: `${text}\r\n`, declared };
}

/** In lower case, and not one of the connection's. */
function isName(name: string): boolean {
  return fieldName(name) === name && !ownNames.has(name);
}
