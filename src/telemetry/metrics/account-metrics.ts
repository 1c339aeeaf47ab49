import type { Accounts } from '../../health/accounts.ts';
import type { Condition } from '../../health/health-view.ts';
import type { MetricFamily, ScalarPoint } from './family.ts';

/** A connection in use. */
export interface MeasuredConnection {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
}

const states: readonly Condition['state'][] = ['ready', 'cooling', 'probing', 'exhausted', 'needs-attention'];

/** What is known of the accounts at this moment. */
export function accountMetrics(
  connections: readonly MeasuredConnection[],
  accounts: Pick<Accounts, 'headroom' | 'inFlight' | 'conditionsOf'>,
): MetricFamily[] {
  const each = (value: (connection: MeasuredConnection) => number): ScalarPoint[] =>
    connections.map((connection) => ({ labels: labelsOf(connection), value: value(connection) }));
  return [
    {
      name: 'modelgate_account_state',
      type: 'gauge',
      help: 'The state of the account of a connection: 1 for the one that it is in',
      points: connections.flatMap((connection) => {
        const own = accounts.conditionsOf(connection.id).find(({ model }) => model === null);
        const current = own?.condition.state ?? 'ready';
        return states.map((state) => ({
          labels: { ...labelsOf(connection), state },
          value: Number(state === current),
        }));
      }),
    },
    {
      name: 'modelgate_account_models_unavailable',
      type: 'gauge',
      help: 'Models of a connection that are not ready while the account may be',
      points: each(({ id }) => accounts.conditionsOf(id).filter(({ model }) => model !== null).length),
    },
    {
      name: 'modelgate_account_requests_in_flight',
      type: 'gauge',
      help: 'Requests at the upstream of a connection at this moment',
      points: each(({ id }) => accounts.inFlight(id)),
    },
    {
      name: 'modelgate_account_quota_remaining_ratio',
      type: 'gauge',
      unit: 'ratio',
      help: 'The smallest share that is left of the limits that the upstream reports, 0 to 1',
      points: connections.flatMap((connection) => {
        const value = accounts.headroom(connection.id);
        return value === null ? [] : [{ labels: labelsOf(connection), value }];
      }),
    },
  ];
}

function labelsOf({ name, provider }: MeasuredConnection): Record<string, string> {
  return { connection: name, provider };
}
