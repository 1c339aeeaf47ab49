import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { comboRow } from '../../../../src/combos/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Combo = z.infer<typeof comboRow> & Member;

export function combosQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['combos'],
    queryFn: ({ signal }) => api.list<Combo>('combos', { signal, query: { sort_by: 'name' } }),
  });
}
