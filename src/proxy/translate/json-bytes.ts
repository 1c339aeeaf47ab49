import { transcode } from 'node:buffer';

/**
 * JSON that `JSON.stringify` wrote, in UTF-8. Text with characters beyond U+00FF is kept in two bytes a character, which
 * `Buffer.from` converts one by one; `transcode` takes a fifth of that. It requires whole surrogate pairs, as JSON has
 * them.
 * @param isWide whether there are such characters, as far as is known: the result is the same
 */
export function jsonBytes(json: string, isWide: boolean): Buffer {
  return isWide ? transcode(Buffer.from(json, 'utf16le'), 'utf16le', 'utf8') : Buffer.from(json);
}
