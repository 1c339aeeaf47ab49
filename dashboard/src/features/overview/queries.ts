import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { budgetRow } from '../../../../src/budgets/schema.ts';
import type { requestRow, UsageRow } from '../../../../src/ledger/schema.ts';
import type { AttentionRow } from '../../../../src/management/attention/schema.ts';
import type { serviceRow } from '../../../../src/services/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Budget = z.infer<typeof budgetRow> & Member;
export type Request = z.infer<typeof requestRow>;
export type Service = z.infer<typeof serviceRow> & Member;

/** How many of the latest requests are shown. */
export const LATEST = 8;
const REFRESH_MS = 60_000;

export interface Usage {
  /** Days of the current month in UTC, the last of which is today. */
  days: readonly UsageRow[];
  /** The last hours; those without requests are not there. */
  hours: readonly UsageRow[];
}

/** What was used in the month so far, and in each hour of the last two days, which is what the API tells by hour. */
export function usageQuery(api: ApiClient, now: number) {
  const today = new Date(now);
  const first = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1)).toISOString();
  return queryOptions({
    queryKey: ['usage', 'overview', first],
    queryFn: async ({ signal }): Promise<Usage> => {
      const { resources } = await api.list<UsageRow>('usage', {
        signal,
        query: { 'filter[]': ["by='day'", `from>='${first}'`, "or by='hour'"], sort_by: 'from' },
      });
      return {
        days: resources.filter(({ by }) => by === 'day'),
        hours: resources.filter(({ by }) => by === 'hour'),
      };
    },
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

export const latestKey = ['requests', 'latest'];

export function latestQuery(api: ApiClient) {
  return queryOptions({
    queryKey: latestKey,
    queryFn: ({ signal }) => api.list<Request>('requests', { signal, query: { limit: LATEST } }),
  });
}
