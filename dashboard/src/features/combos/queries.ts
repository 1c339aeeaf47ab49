import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { modelRow } from '../../../../src/catalog/row-schema.ts';
import type { comboRow } from '../../../../src/combos/schema.ts';
import type { connectionRow } from '../../../../src/connections/schema.ts';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import type { simulationRow } from '../../../../src/simulation/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Combo = z.infer<typeof comboRow> & Member;
export type Simulation = z.infer<typeof simulationRow>;
export type ConnectionState = Pick<
  z.infer<typeof connectionRow>,
  'id' | 'name' | 'provider' | 'active' | 'needs_reentry' | 'condition' | 'model_conditions'
>;
export type ModelFacts = Pick<
  z.infer<typeof modelRow>,
  'id' | 'kind' | 'connection' | 'model' | 'input_usd' | 'output_usd'
>;

export function combosQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['combos'],
    queryFn: ({ signal }) => api.list<Combo>('combos', { signal, query: { sort_by: 'name' } }),
  });
}

/** How the accounts stand behind which targets are. */
export function connectionStatesQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['connections', 'states'],
    queryFn: ({ signal }) =>
      api.list<ConnectionState>('connections', {
        signal,
        query: { attributes: 'name,provider,active,needs_reentry,condition,model_conditions' },
      }),
    refetchInterval: 30_000,
  });
}

/** What can be a target, with its price. */
export function modelFactsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['models', 'facts'],
    queryFn: ({ signal }) =>
      api.list<ModelFacts>('models', {
        signal,
        query: { attributes: 'kind,connection,model,input_usd,output_usd' },
      }),
    staleTime: 60_000,
  });
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What each model at each connection did in the last 24 hours. @param now milliseconds since the epoch */
export function targetUsageQuery(api: ApiClient, now: number) {
  const from = new Date(Math.floor(now / HOUR_MS) * HOUR_MS - DAY_MS).toISOString();
  return queryOptions({
    queryKey: ['usage', 'targets', from],
    queryFn: ({ signal }) =>
      api.list<UsageRow>('usage', {
        signal,
        query: { 'filter[]': ["by='connection,model'", `from>='${from}'`] },
      }),
  });
}
