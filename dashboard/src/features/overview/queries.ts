import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { budgetRow } from '../../../../src/budgets/schema.ts';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import type { AttentionRow } from '../../../../src/management/attention/schema.ts';
import type { serviceRow } from '../../../../src/services/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Budget = z.infer<typeof budgetRow> & Member;
export type Service = z.infer<typeof serviceRow> & Member;

const REFRESH_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Days of the current month in UTC, the last of which is today. */
export function monthQuery(api: ApiClient, now: number) {
  const today = new Date(now);
  const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1));
  return queryOptions({
    queryKey: ['usage', 'month', first.toISOString()],
    queryFn: ({ signal }) =>
      api.list<UsageRow>('usage', {
        signal,
        query: { 'filter[]': ["by='day'", `from>='${first.toISOString()}'`], sort_by: 'from' },
      }),
    refetchInterval: REFRESH_MS,
  });
}

/** The last 24 hours, hour by hour; hours without requests are not there. */
export function hoursQuery(api: ApiClient, now: number) {
  const from = new Date(Math.floor(now / HOUR_MS) * HOUR_MS - 23 * HOUR_MS).toISOString();
  return queryOptions({
    queryKey: ['usage', 'hours', from],
    queryFn: ({ signal }) =>
      api.list<UsageRow>('usage', {
        signal,
        query: { 'filter[]': ["by='hour'", `from>='${from}'`], sort_by: 'from' },
      }),
    refetchInterval: REFRESH_MS,
  });
}

export function budgetsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['budgets'],
    queryFn: ({ signal }) => api.list<Budget>('budgets', { signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** What needs a person. */
export function attentionQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['attention'],
    queryFn: ({ signal }) => api.list<AttentionRow>('attention', { signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** The parts of the gateway and its connections, which are services as well. */
export function servicesQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['services'],
    queryFn: ({ signal }) => api.list<Service>('services', { signal, query: { sort_by: 'name' } }),
    refetchInterval: REFRESH_MS,
  });
}
