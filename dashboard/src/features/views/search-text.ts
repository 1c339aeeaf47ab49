/** The filters of an address as they are saved: `outcome=failed&range=7d`, in the order of their names. */
export function searchText(search: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(search)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return new URLSearchParams(entries).toString();
}

/** What `searchText` made, for the page's own reader of its address. */
export const searchOf = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));
