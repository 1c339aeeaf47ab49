import { isUtf8 } from 'node:buffer';

/**
 * Attribute values in headers of HTTP and NATS: space, `"`, `%` and everything that is not printable ASCII is written as
 * percent signs and the bytes of UTF-8.
 */
export function percentEncode(text: string): string {
  if (/^[!#$&-~]*$/.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text))
    encoded += isPlain(byte)
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return encoded;
}

const isPlain = (byte: number): boolean => byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x25;

/**
 * Reads such a value: first a double-quoted string, then one round of percent signs. A percent sign without two digits stands
 * for itself, because older producers do not encode it.
 * @param raw what the characters beyond ASCII are: bytes (as Node.js reads HTTP headers), or text
 * @returns null when the bytes are not valid UTF-8
 */
export function percentDecode(header: string, raw: 'latin1' | 'utf8'): string | null {
  const text = unquoted(header);
  if (/^[\x20-$&-~]*$/.test(text)) return text;
  const bytes = Buffer.from(text, raw);
  let length = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const digits = bytes[index] === 0x25 ? bytes.toString('latin1', index + 1, index + 3) : '';
    const escaped = /^[0-9A-Fa-f]{2}$/.test(digits);
    bytes[length] = escaped ? Number.parseInt(digits, 16) : (bytes[index] ?? 0);
    length += 1;
    if (escaped) index += 2;
  }
  const decodedBytes = bytes.subarray(0, length);
  return isUtf8(decodedBytes) ? decodedBytes.toString() : null;
}

/** The content of each double-quoted string in its place (RFC 7230, 3.2.6). */
function unquoted(header: string): string {
  if (!header.includes('"')) return header;
  let text = '';
  let quoted = false;
  for (let index = 0; index < header.length; index += 1) {
    const character = header[index] ?? '';
    if (quoted && character === '\\' && index + 1 < header.length) {
      index += 1;
      text += header[index];
    } else if (character === '"') quoted = !quoted;
    else text += character;
  }
  return text;
}
