import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { budgetRow } from '../../../../src/budgets/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Budget = z.infer<typeof budgetRow> & Member;

/** What of a budget can be changed. */
export function fieldsOfBudget({ limit, metric, soft_percent, unpriced }: Budget) {
  return { limit, soft_percent, ...(metric === 'usd' ? { unpriced } : {}) };
}

const REFRESH_MS = 30_000;

/** All budgets with what is used of them; the fullest are looked at again every half minute. */
export function budgetsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['budgets'],
    queryFn: ({ signal }) => api.list<Budget>('budgets', { signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** Names of what a budget may be of, for a field that suggests them. */
export function subjectsQuery(api: ApiClient, scope: string) {
  const collection = subjectCollections[scope];
  return queryOptions({
    queryKey: ['budget-subjects', scope],
    queryFn: async ({ signal }) => {
      if (collection === undefined) return [];
      const { resources } = await api.list<{ name: string }>(collection, { signal });
      return resources.map(({ name }) => name);
    },
    enabled: collection !== undefined,
  });
}

const subjectCollections: Readonly<Record<string, string>> = {
  key: 'keys',
  combo: 'combos',
  connection: 'connections',
};
