/** A value as it stands in a `filter[]` of the API, quoted. */
export function quoted(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
