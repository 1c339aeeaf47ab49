/** As `map`; the list itself where every entry stays what it is, so that nothing is copied for a step that changes nothing. */
export function mapChanged<T>(list: T[], change: (entry: T) => T): T[] {
  let result: T[] | null = null;
  let index = 0;
  for (const entry of list) {
    const changed = change(entry);
    if (result === null && changed !== entry) result = list.slice(0, index);
    result?.push(changed);
    index += 1;
  }
  return result ?? list;
}
