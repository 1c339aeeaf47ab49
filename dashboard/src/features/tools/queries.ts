import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ToolBatchStatus, ToolRow, ToolSettings, toolChange } from '../../../../src/tools/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Tool = ToolRow & Member;
export type ToolChange = z.infer<typeof toolChange>;

export function toolsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['tools'],
    queryFn: ({ signal }) => api.list<Tool>('tools', { signal }),
  });
}

/** Asks every program for its version; slow, and answered on the gateway's own machine only. */
export function statusesQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['tool-statuses'],
    queryFn: ({ signal }) => api.get<Record<string, ToolBatchStatus>>('cli-tools/all-statuses', { signal }),
    staleTime: 60_000,
    retry: false,
  });
}

export function settingsQuery(api: ApiClient, tool: Tool) {
  return queryOptions({
    queryKey: ['tool-settings', tool.id],
    queryFn: ({ signal }) => api.get<ToolSettings>(tool.settings_href ?? '', { signal }),
    enabled: tool.settings_href !== null,
  });
}

/** Tools that can be pointed at the gateway; the others wait in the catalog and are not shown. */
export function visible(tools: readonly Tool[], category: Tool['category']): Tool[] {
  return tools.filter((tool) => tool.category === category && tool.baseUrlSupport !== 'none');
}

/** Stands in the catalog for every tool that its user describes. */
export const BUILDER = 'custom';
