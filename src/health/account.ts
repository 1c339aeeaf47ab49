import { createHash } from 'node:crypto';
import type { Provider } from '../providers/provider.ts';
import { type HealthState, isOver } from './health-state.ts';
import type { Condition } from './health-view.ts';
import { isCurrent, type RateLimitStatus } from './limits.ts';
import { type Latency, Load } from './load.ts';

/** What is asked of a target: who answers, and for which model. */
export interface AttemptTarget {
  connection: { id: string; credential: string | null; baseUrl: string | null };
  provider: Pick<Provider, 'faults' | 'limitsPerModel'>;
  model: string;
}

/** A health state with what it is about, as it is kept over a restart. `model` null: of the whole account. */
export interface StoredHealthState {
  connectionId: string;
  model: string | null;
  /** Null once it is ready again. */
  healthState: HealthState | null;
  /** Of the credential that was refused. */
  fingerprint: string | null;
}

export interface HealthConnection {
  id: string;
  credential: string | null;
  baseUrl: string | null;
  status: string;
  lastTestedAt: number | null;
}

/** What is known of one connection, in memory. */
export interface AccountState {
  id: string;
  own: HealthState | null;
  fingerprint: string | null;
  models: Map<string, HealthState>;
  latencies: Map<string, Latency>;
  limits: Map<string, RateLimitStatus>;
  limitsReadAt: number;
  load: Load;
}

/** Clients name models freely; so many of an account are remembered. */
const MAX_MODELS = 500;

export const ready: Condition = { state: 'ready' };

export function newAccount(id: string): AccountState {
  return {
    id,
    own: null,
    fingerprint: null,
    models: new Map(),
    latencies: new Map(),
    limits: new Map(),
    limitsReadAt: Number.NEGATIVE_INFINITY,
    load: new Load(),
  };
}

/** What is said of a health state: `ready` once its pause is over, for the next request finds out. */
export function conditionOf(healthState: HealthState, now: number): Condition {
  if (isOver(healthState, now)) return ready;
  const { reason } = healthState;
  switch (healthState.state) {
    case 'cooling':
    case 'exhausted':
      return { state: healthState.state, until: healthState.until, reason };
    case 'probing':
    case 'needs-attention':
      return { state: healthState.state, reason };
  }
}

const order = { probing: 0, cooling: 1, exhausted: 2, 'needs-attention': 3 } as const;

/** Of the account's own health state and the model's the one that keeps requests away for longer. */
export function worseStateOf({ models, own }: AccountState, model: string, now: number): HealthState | null {
  const ofModel = models.get(model) ?? null;
  if (own === null || ofModel === null) return own ?? ofModel;
  if (isOver(own, now)) return ofModel;
  if (isOver(ofModel, now)) return own;
  if (order[own.state] !== order[ofModel.state])
    return order[own.state] > order[ofModel.state] ? own : ofModel;
  return 'until' in own && 'until' in ofModel && ofModel.until > own.until ? ofModel : own;
}

export function limitsOf(account: AccountState | undefined, now: number): RateLimitStatus[] {
  return account === undefined ? [] : [...account.limits.values()].filter((limit) => isCurrent(limit, now));
}

/** The credential was refused, and is another one now; or a test went well since, where no upstream named a time. */
export function hasRecovered({ fingerprint, own }: AccountState, connection: HealthConnection): boolean {
  if (own === null) return false;
  const { lastTestedAt, status } = connection;
  const ordered = 'namedByUpstream' in own && own.namedByUpstream;
  if (status === 'ok' && lastTestedAt !== null && lastTestedAt > own.since && !ordered) return true;
  return own.state === 'needs-attention' && fingerprint !== fingerprintOf(connection);
}

/** Tells two credentials apart and is of no use to anyone: keys are long and random. */
export function fingerprintOf({ baseUrl, credential }: AttemptTarget['connection']): string {
  return createHash('sha256').update(`${baseUrl}\n${credential}`).digest('hex').slice(0, 16);
}

/** Takes over the limits of an account that an answer reported. */
export function noteLimits({ limits: latest }: AccountState, limits: readonly RateLimitStatus[]): void {
  for (const limit of limits) {
    const name = `${limit.name} ${limit.model ?? ''}`;
    if (!latest.has(name)) evictOldest(latest);
    latest.set(name, limit);
  }
}

/** Lets go of the entry that came first, when there are too many. */
export function evictOldest(
  entries: Map<string, unknown>,
  evicted: (rowOf: (connectionId: string) => StoredHealthState) => void = () => {},
): void {
  if (entries.size < MAX_MODELS) return;
  const [first] = entries.keys();
  if (first === undefined) return;
  entries.delete(first);
  evicted((connectionId) => ({ connectionId, model: first, healthState: null, fingerprint: null }));
}
