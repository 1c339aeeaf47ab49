import { fieldValue } from '../field-lines.ts';

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
      values.push(withoutBlanks(rawHeaders[index + 1] ?? ''));
  }
  return values;
}

function withoutBlanks(value: string): string {
  return fieldValue(value, 0, value.length);
}
