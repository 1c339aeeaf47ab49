import { useQuery } from '@tanstack/react-query';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { useApi } from '../../lib/api/client.ts';
import { useNow } from '../../lib/now.ts';
import {
  type ConnectionState,
  connectionStatesQuery,
  type ModelFacts,
  modelFactsQuery,
  targetUsageQuery,
} from './queries.ts';

export type TargetState =
  | 'combo'
  | 'ready'
  | 'paused'
  | 'needs-key'
  | 'cooling'
  | 'probing'
  | 'exhausted'
  | 'needs-attention'
  | 'unknown';

/** What is known of a target: how its accounts stand, what it costs, and how it did in the last 24 hours. */
export interface TargetFacts {
  /** The best state of the accounts that serve it. */
  state: TargetState;
  /** How many accounts serve it, and how many of them are ready. */
  accounts: number;
  ready: number;
  reason: string | null;
  /** USD per million tokens; null where no price is known, or accounts differ. */
  inputUsd: number | null;
  outputUsd: number | null;
  requests: number;
  failed: number;
  /** Mean milliseconds to the first byte; null without a request that has one. */
  ttftMs: number | null;
}

interface Known {
  combos: ReadonlySet<string>;
  connections: readonly ConnectionState[];
  models: readonly ModelFacts[];
  usage: readonly UsageRow[];
}

const order: readonly TargetState[] = [
  'ready',
  'probing',
  'cooling',
  'exhausted',
  'needs-attention',
  'needs-key',
  'paused',
];

/** @param target `connection/model`, `provider/model` or the name of a combo */
function targetFacts(target: string, { combos, connections, models, usage }: Known): TargetFacts {
  const none = { requests: 0, failed: 0, ttftMs: null, inputUsd: null, outputUsd: null };
  if (combos.has(target)) return { ...none, state: 'combo', accounts: 0, ready: 0, reason: null };
  const slash = target.indexOf('/');
  const [head, model] = [target.slice(0, slash), target.slice(slash + 1)];
  const named = connections.filter(({ name }) => name === head);
  const serving = named.length > 0 ? named : connections.filter(({ provider }) => provider === head);
  const states = serving
    .map((connection) => stateOf(connection, model))
    .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const names = new Set(serving.map(({ name }) => name));
  const offers = models.filter(
    ({ connection, id, model: own }) =>
      id === target || (connection !== null && names.has(connection) && own === model),
  );
  const done = usage.filter(
    ({ connection, model: own }) => connection !== null && names.has(connection) && own === model,
  );
  return {
    state: states[0]?.state ?? 'unknown',
    accounts: serving.length,
    ready: states.filter(({ state }) => state === 'ready').length,
    reason: states.find(({ reason }) => reason !== null)?.reason ?? null,
    inputUsd: same(offers.map(({ input_usd }) => input_usd)),
    outputUsd: same(offers.map(({ output_usd }) => output_usd)),
    requests: sum(done.map(({ requests }) => requests)),
    failed: sum(done.map(({ failed }) => failed)),
    ttftMs: meanTtft(done),
  };
}

function stateOf(
  { active, condition, model_conditions, needs_reentry }: ConnectionState,
  model: string,
): { state: TargetState; reason: string | null } {
  if (!active) return { state: 'paused', reason: null };
  if (needs_reentry) return { state: 'needs-key', reason: null };
  const own = model_conditions.find((one) => one.model === model);
  const { reason, state } = condition.state === 'ready' && own !== undefined ? own : condition;
  return { state, reason };
}

function same(values: readonly (number | null)[]): number | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function meanTtft(rows: readonly UsageRow[]): number | null {
  const timed = rows.filter(({ mean_ttft_ms }) => mean_ttft_ms !== null);
  const requests = sum(timed.map((row) => row.requests));
  if (requests === 0) return null;
  return sum(timed.map((row) => (row.mean_ttft_ms ?? 0) * row.requests)) / requests;
}

/** Knows of targets, as far as its queries have answered. */
export function useTargetFacts(combos: readonly { name: string }[]): {
  models: readonly ModelFacts[];
  of(target: string): TargetFacts;
} {
  const api = useApi();
  const connections = useQuery(connectionStatesQuery(api)).data?.resources ?? [];
  const models = useQuery(modelFactsQuery(api)).data?.resources ?? [];
  const usage = useQuery(targetUsageQuery(api, useNow())).data?.resources ?? [];
  const known = { combos: new Set(combos.map(({ name }) => name)), connections, models, usage };
  return { models, of: (target) => targetFacts(target, known) };
}
