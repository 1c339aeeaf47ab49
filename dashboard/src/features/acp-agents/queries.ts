import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { agentRecord } from '../../../../src/agents/registry/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

/** An agent, with how it is just now. What it printed is there for those who may operate it. */
export type AcpAgent = Omit<z.infer<typeof agentRecord>, 'output'> & { output?: readonly string[] } & Member;

export const acpAgentsKey = ['acp-agents'] as const;

export function acpAgentsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: acpAgentsKey,
    queryFn: ({ signal }) => api.list<AcpAgent>('acp_agents', { signal, query: { sort_by: 'name' } }),
  });
}
