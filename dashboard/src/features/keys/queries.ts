import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { keyRow } from '../../../../src/access/schema.ts';
import type { budgetRow } from '../../../../src/budgets/schema.ts';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import type { ToolRow } from '../../../../src/tools/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

/** A gateway key with its own limits. */
export type Key = z.infer<typeof keyRow> &
  Member & {
    budget_usd: number | null;
    budget_period: string | null;
    budget_unpriced: 'allow' | 'refuse' | null;
    rpm: number | null;
    tpm: number | null;
  };

export type Budget = z.infer<typeof budgetRow>;

export function keysQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['keys'],
    queryFn: ({ signal }) => api.list<Key>('keys', { signal, query: { sort_by: 'name' } }),
  });
}

/** Names of the keys by id. */
export function keyNamesQuery(api: ApiClient) {
  return queryOptions({
    ...keysQuery(api),
    select: ({ resources }) => new Map(resources.map(({ id, name }) => [id, name])),
  });
}

/** Every limit with what is used of it. */
export function keyBudgetsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['budgets'],
    queryFn: ({ signal }) => api.list<Budget>('budgets', { signal }),
    refetchInterval: 60_000,
  });
}

/** What each key spent in the current month of UTC, as budgets count it. @param now milliseconds since the epoch */
export function keyUsageQuery(api: ApiClient, now: number) {
  const today = new Date(now);
  const from = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1)).toISOString();
  return queryOptions({
    queryKey: ['usage', 'keys', from],
    queryFn: ({ signal }) =>
      api.list<UsageRow>('usage', {
        signal,
        query: { 'filter[]': ["by='key'", `from>='${from}'`] },
      }),
    select: ({ resources }) => new Map(resources.map((row) => [row.key_id, row])),
  });
}

/** Tools that can be pointed here, for the settings that a new key goes into. */
export function keyToolsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['tools'],
    queryFn: ({ signal }) => api.list<ToolRow>('tools', { signal }),
  });
}
