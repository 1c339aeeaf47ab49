/** A name and a password, as presented. */
export interface BasicCredentials {
  name: string;
  password: string;
}

/** A name of 64 characters and a password of 128, four bytes each, in base64, and then some. */
const MAX_ENCODED = 2048;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the value of `Authorization` with the scheme Basic (RFC 7617): base64 of UTF-8, the first colon separates.
 * Null for another scheme, and for anything malformed or overlong.
 */
export function readBasic(value: string): BasicCredentials | null {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(value.trim())?.[1];
  if (encoded === undefined || encoded.length > MAX_ENCODED) return null;
  const text = textOf(Buffer.from(encoded, 'base64'));
  if (text === null || /[\u0000-\u001f\u007f]/.test(text)) return null;
  const colon = text.indexOf(':');
  if (colon < 1) return null;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

function textOf(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
