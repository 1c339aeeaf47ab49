/** Lines without control characters, each but the last with a whole line end (RFC 9112, 2.2). */
export const validLines = /^(?:[^\0-\x08\n-\x1f\x7f]*\r\n)*[^\0-\x08\n-\x1f\x7f]*$/;
export const LINE_END = '\r\n';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Names as they are written, in lower case: there are few, and every message has a dozen. */
const nameCache = new Map<string, string>();
const MAX_CACHED_NAMES = 512;

/** The name of a field in lower case; null for what is no name (RFC 9110, 5.1). */
export function fieldName(written: string): string | null {
  const cached = nameCache.get(written);
  if (cached !== undefined) return cached;
  if (!token.test(written)) return null;
  const name = written.toLowerCase();
  if (written.length >= 64) return name;
  // Names that a stranger makes up do not keep those out that all others send.
  if (nameCache.size === MAX_CACHED_NAMES) nameCache.clear();
  // A copy, for a part of a text keeps all of it in memory.
  nameCache.set(Buffer.from(written, 'latin1').toString('latin1'), name);
  return name;
}

const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether a text can be the value of a field (RFC 9110, 5.5), as Node judges it. */
export function isFieldValue(text: string): boolean {
  return !invalidValue.test(text);
}

/** What stands in a text from one index to another, without the blanks around it. */
export function fieldValue(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** A space or a tab. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
