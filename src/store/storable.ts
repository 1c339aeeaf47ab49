/** Text without NUL and halves of surrogate pairs, which PostgreSQL does not store. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
