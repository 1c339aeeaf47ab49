import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { RequestCount, RunningRequest, requestRow, ToolRun } from '../../../../src/ledger/schema.ts';
import { startOfRange } from '../../components/controls/time-range.tsx';
import type { ApiClient, Page } from '../../lib/api/client.ts';
import { quoted } from '../../lib/api/filter.ts';
import { nextOffset } from '../../lib/api/pages.ts';
import { filterAttributes, filterNames, type RequestsSearch } from './search.ts';

export type Request = z.infer<typeof requestRow> & { href: string };

const PAGE_SIZE = 200;

/** The finished requests that an address names, newest first, page by page. */
export function requestsQuery(api: ApiClient, search: RequestsSearch, now: number) {
  return infiniteQueryOptions({
    queryKey: ['requests', search],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<Page<Request>> =>
      api.list<Request>('requests', {
        signal,
        query: {
          limit: PAGE_SIZE,
          offset: pageParam,
          ...(search.sort === undefined ? {} : { sort_by: search.sort, sort_order: search.order ?? 'desc' }),
          'filter[]': filtersOf(search, now),
        },
      }),
    getNextPageParam: nextOffset,
  });
}

/** The conditions of an address, as the API takes them. */
function filtersOf(search: RequestsSearch, now: number): string[] {
  const { range = '24h', view, status, q, tag } = search;
  const from = search.from ?? new Date(startOfRange(range, now)).toISOString();
  const all = [`started_at>=${from}`, ...(search.to === undefined ? [] : [`started_at<${search.to}`])];
  if (view === 'errors') all.push("outcome='failed'");
  if (view === 'slow') all.push('duration_ms>=10000');
  if (view === 'fallbacks') all.push('attempts>1');
  if (view === 'expensive') all.push('cost_usd>=0.1');
  for (const name of filterNames) {
    const value = search[name];
    if (value === '-') all.push(`${filterAttributes[name]}=NULL`);
    else if (value !== undefined) all.push(`${filterAttributes[name]}==${quoted(value)}`);
  }
  if (tag !== undefined)
    all.push(tag.startsWith('!') ? `tags!=${quoted(`${tag.slice(1)}=*`)}` : `tags==${quoted(tag)}`);
  if (status !== undefined) all.push(`status=${status}`);
  if (q !== undefined) all.push(textFilter(q));
  return all;
}

/** A request by its id, else the text in a model, the error, the client or an id. */
function textFilter(text: string): string {
  if (/^req_\w+$/.test(text)) return `id==${quoted(text)}`;
  return `text==${quoted(text)}`;
}

export type Running = RunningRequest;

const RUNNING_MS = 3_000;
const COUNTS_MS = 60_000;

/** How many requests the filter of an address leaves, by value and over time. */
export function countsQuery(api: ApiClient, search: RequestsSearch, now: number) {
  const { group: _, order: __, sort: ___, ...filter } = search;
  return queryOptions({
    queryKey: ['requests', 'counts', filter],
    queryFn: ({ signal }) =>
      api.list<RequestCount>('request_counts', {
        signal,
        query: { 'filter[]': [...filtersOf(filter, now), 'top=8'] },
      }),
    placeholderData: keepPreviousData,
    staleTime: COUNTS_MS,
  });
}

/** The runs of tools with the requests that the filter of an address leaves, the latest first. */
export function runsQuery(api: ApiClient, search: RequestsSearch, now: number) {
  return infiniteQueryOptions({
    queryKey: ['requests', 'runs', search],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<Page<ToolRun>> =>
      api.list<ToolRun>('tool_runs', {
        signal,
        query: { limit: PAGE_SIZE, offset: pageParam, 'filter[]': filtersOf(search, now) },
      }),
    getNextPageParam: nextOffset,
  });
}

/** The requests that are not answered yet, looked at again every few seconds. */
export function runningQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['running-requests'],
    queryFn: ({ signal }) => api.list<Running>('running_requests', { signal, query: { limit: 50 } }),
    refetchInterval: RUNNING_MS,
  });
}

/** One request with its trace. */
export function requestQuery(api: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['request', id],
    queryFn: ({ signal }) => api.get<Request>(`requests/${encodeURIComponent(id)}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
