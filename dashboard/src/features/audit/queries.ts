import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { auditRow } from '../../../../src/access/audit/schema.ts';
import { startOfRange } from '../../components/controls/time-range.tsx';
import type { ApiClient, Page } from '../../lib/api/client.ts';
import { quoted } from '../../lib/api/filter.ts';
import { nextOffset, rowsOf } from '../../lib/api/pages.ts';
import type { AuditSearch } from './search.ts';

export type AuditRecord = z.infer<typeof auditRow> & { href: string };

const PAGE_SIZE = 200;
const EXPORT_PAGE_SIZE = 1000;

const searchedAttributes = { who: 'actor.name', what: 'action', target: 'target', from: 'address' } as const;

/** What happened, newest first, page by page. */
export function auditQuery(api: ApiClient, search: AuditSearch, now: number) {
  return infiniteQueryOptions({
    queryKey: ['audit', 'list', search],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => page(api, search, now, pageParam, PAGE_SIZE, signal),
    getNextPageParam: nextOffset,
  });
}

export function auditRecordQuery(api: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['audit', 'record', id],
    queryFn: ({ signal }) => api.get<AuditRecord>(`audit/${encodeURIComponent(id)}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Every record that an address names, for a file. */
export async function allRecords(api: ApiClient, search: AuditSearch, now: number): Promise<AuditRecord[]> {
  const pages: Page<AuditRecord>[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const next: Page<AuditRecord> = await page(api, search, now, offset, EXPORT_PAGE_SIZE);
    pages.push(next);
    offset = nextOffset(next, pages);
  }
  return rowsOf(pages, ({ id }) => id);
}

function page(
  api: ApiClient,
  search: AuditSearch,
  now: number,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Page<AuditRecord>> {
  return api.list<AuditRecord>('audit', {
    signal,
    query: { limit, offset, 'filter[]': filters(search, now) },
  });
}

/** The conditions of an address, as the API takes them. */
function filters({ in: where = 'what', outcome, q, range }: AuditSearch, now: number): string[] {
  return [
    ...(range === undefined ? [] : [`time>=${new Date(startOfRange(range, now)).toISOString()}`]),
    ...(outcome === undefined ? [] : [`outcome='${outcome}'`]),
    ...(q === undefined ? [] : [`${searchedAttributes[where]}=${quoted(`*${q}*`)}`]),
  ];
}
