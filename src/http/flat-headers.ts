/** Flat headers (name, value, name, value …) as names and values. */
export function* pairs(flat: readonly string[]): Iterable<[string, string]> {
  for (let index = 0; index + 1 < flat.length; index += 2) yield [flat[index] ?? '', flat[index + 1] ?? ''];
}
