import { choiceParam, present, type RawSearch, textParam } from './search-params.ts';

/** What the address of a page with one table carries: the filter and the order. */
export interface SortSearch {
  q?: string;
  sort?: string;
  order?: 'asc' | 'desc';
}

export function sortSearch(search: RawSearch): SortSearch {
  return present({
    q: textParam(search, 'q'),
    sort: textParam(search, 'sort'),
    order: choiceParam(search, 'order', ['asc', 'desc']),
  });
}

/** The order that an address names; null for that in which rows come. */
export function sortOf({ sort, order }: SortSearch): { by: string; descending: boolean } | null {
  return sort === undefined ? null : { by: sort, descending: order !== 'asc' };
}

/** The members of the address for an order. */
export function searchOfSort(
  sort: { by: string; descending: boolean } | null,
): Pick<SortSearch, 'sort' | 'order'> {
  return sort === null ? {} : { sort: sort.by, order: sort.descending ? 'desc' : 'asc' };
}
