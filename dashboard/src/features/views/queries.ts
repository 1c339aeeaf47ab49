import { queryOptions } from '@tanstack/react-query';
import type { NewSavedView, SavedViewRow } from '../../../../src/access/views/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';
import { quoted } from '../../lib/api/filter.ts';

export type SavedView = SavedViewRow & Member;
export type SavedViewPage = NewSavedView['page'];

/** What the user saved of a page, by name. */
export function savedViewsQuery(api: ApiClient, page: SavedViewPage) {
  return queryOptions({
    queryKey: ['views', page],
    queryFn: ({ signal }) =>
      api.list<SavedView>('views', {
        signal,
        query: { 'filter[]': [`page==${quoted(page)}`], sort_by: 'name' },
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
