/**
 * Texts by characters. A character is a code point: not a byte, and not a UTF-16 unit. Half of a surrogate pair that
 * stands alone counts as one.
 */

const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;

export function characterCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += isPair(text, at) ? 2 : 1) count += 1;
  return count;
}

/** The offset of the character with this index, counted from 0; the length of the text when there are fewer. */
export function offsetOf(text: string, index: number): number {
  let at = 0;
  for (let left = index; left > 0 && at < text.length; left -= 1) at += isPair(text, at) ? 2 : 1;
  return at;
}

/** Whether a code unit is white space as Unicode defines it (the property White_Space); all of it is in the BMP. */
function isWhiteSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0x1680) return code === 0x85 || code === 0xa0;
  if (code >= 0x2000 && code <= 0x200a) return true;
  return (
    code === 0x1680 ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** Without white space at both ends. `String.trim` also takes U+FEFF, which is none, and leaves U+0085, which is. */
export function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
