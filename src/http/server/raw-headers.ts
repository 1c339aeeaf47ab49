/**
 * Every value of a header, in order and without the blanks around it (RFC 9110, 5.5): Node keeps only the first of some
 * headers and joins the values of others.
 * @param rawHeaders names and values in turn, as Node gives them
 * @param name in lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] ?? '';
    if (field.length === name.length && field.toLowerCase() === name)
      values.push(trimmed(rawHeaders[index + 1] ?? ''));
  }
  return values;
}

function trimmed(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

/** A space or a tab. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
