import { choiceParam, present, type RawSearch } from '../../lib/search-params.ts';
import { type SortSearch, sortSearch } from '../../lib/sort-search.ts';

/** Which services a page shows: the gateway's own parts, or also what people added. */
export const serviceViews = ['all', 'parts', 'connections', 'failing'] as const;
export type ServiceView = (typeof serviceViews)[number];

export interface ServicesSearch extends SortSearch {
  view?: ServiceView;
}

export function servicesSearch(search: RawSearch): ServicesSearch {
  return present({ ...sortSearch(search), view: choiceParam(search, 'view', serviceViews) });
}
