import type { Page } from './client.ts';

/** The offset of the next page; undefined after the last. */
export function nextOffset<Row>(last: Page<Row>, all: readonly Page<Row>[]): number | undefined {
  const loaded = all.reduce((sum, { subcount }) => sum + subcount, 0);
  return loaded < (last.subquery_count ?? last.count) && last.subcount > 0 ? loaded : undefined;
}

/**
 * The rows of all pages, each once: where rows come in front of a list between two of its pages, the later page begins
 * with rows of the former.
 */
export function rowsOf<Row>(
  pages: readonly { resources: readonly Row[] }[],
  rowId: (row: Row) => string,
): Row[] {
  const known = new Set<string>();
  return pages.flatMap(({ resources }) =>
    resources.filter((row) => {
      const id = rowId(row);
      return !known.has(id) && known.add(id);
    }),
  );
}
