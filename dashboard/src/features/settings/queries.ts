import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { processRow } from '../../../../src/services/schema.ts';
import type { settingRow } from '../../../../src/settings/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Setting = z.infer<typeof settingRow> & Member;
export type GatewayProcess = z.infer<typeof processRow> & Member;

export function settingsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['settings'],
    queryFn: ({ signal }) => api.list<Setting>('settings', { signal }),
  });
}

/** The process that answers. */
export function gatewayQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['gateway'],
    queryFn: ({ signal }) => api.get<GatewayProcess>('processes/this', { signal }),
  });
}
