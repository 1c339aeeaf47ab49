import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import type { ApiClient } from '../../lib/api/client.ts';
import { startOf, steps } from './ranges.ts';
import type { CostsSearch } from './search.ts';

const REFRESH_MS = 60_000;
/** Groups that are told one by one; the rest is one row. The chart tells fewer apart. */
const MOST_ROWS = 100;
const SERIES = 5;

/** The sums of each group over the whole range, the rest in one row. */
export function groupsQuery(
  api: ApiClient,
  { by = 'model', range = 'month', within }: CostsSearch,
  now: number,
) {
  const from = new Date(startOf(range, now)).toISOString();
  const grouping = within === undefined ? by : `${by},${within}`;
  return queryOptions({
    queryKey: ['usage', 'groups', grouping, from],
    queryFn: ({ signal }) =>
      api.list<UsageRow>('usage', {
        signal,
        query: { 'filter[]': [`by='${grouping}'`, `from>='${from}'`, `top=${MOST_ROWS}`] },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** The sums of the dearest groups in each step of the range, and of all others together. */
export function seriesQuery(api: ApiClient, { by = 'model', range = 'month' }: CostsSearch, now: number) {
  const from = new Date(startOf(range, now)).toISOString();
  const grouping = `${steps[range]},${by}`;
  return queryOptions({
    queryKey: ['usage', 'series', grouping, from],
    queryFn: ({ signal }) =>
      api.list<UsageRow>('usage', {
        signal,
        query: {
          'filter[]': [`by='${grouping}'`, `from>='${from}'`, `top=${SERIES}`],
          sort_by: 'from',
        },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}
