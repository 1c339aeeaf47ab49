import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { modelRow } from '../../../../src/catalog/row-schema.ts';
import type { aliasRow } from '../../../../src/combos/aliases/schema.ts';
import type { ApiClient, Member, Page } from '../../lib/api/client.ts';
import { nextOffset, rowsOf } from '../../lib/api/pages.ts';
import type { Ability } from './search.ts';

export type Model = z.infer<typeof modelRow> & Member;
export type Alias = z.infer<typeof aliasRow> & Member;

const PAGE_SIZE = 1_000;
const MOST_PAGES = 10;

/** Everything that can be asked for, all pages of it. */
export function modelsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['models', 'all'],
    queryFn: async ({ signal }) => {
      const pages: Page<Model>[] = [];
      for (let offset: number | undefined = 0; offset !== undefined && pages.length < MOST_PAGES; ) {
        const page: Page<Model> = await api.list('models', { signal, query: { limit: PAGE_SIZE, offset } });
        pages.push(page);
        offset = nextOffset(page, pages);
      }
      return rowsOf(pages, ({ id }) => id);
    },
    staleTime: 60_000,
  });
}

export function aliasesQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['aliases'],
    queryFn: ({ signal }) => api.list<Alias>('aliases', { signal, query: { sort_by: 'name' } }),
  });
}

/** Whether a model can do something; null where that is not known. */
export function isAble(model: Model, ability: Ability): boolean | null {
  switch (ability) {
    case 'tools':
      return model.tools;
    case 'reasoning':
      return model.reasoning;
    case 'images':
      return model.input_modalities?.includes('image') ?? null;
    case 'structured':
      return model.structured_output;
  }
}
