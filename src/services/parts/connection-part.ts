import type { ConnectionRecord } from '../../connections/schema.ts';
import type { ConnectionTest } from '../../connections/testing/test-connection.ts';
import type { Accounts } from '../../health/accounts.ts';
import type { Condition } from '../../health/health-view.ts';
import { GatewayError } from '../../lib/error.ts';
import { findProvider } from '../../providers/index.ts';
import { isoOrNull, type Part, type PartStatus, type Probe } from '../part.ts';
import type { Check } from '../schema.ts';

export interface ConnectionPartInput {
  connection: ConnectionRecord;
  /** What requests met there that is not over. */
  conditions: ReturnType<Accounts['conditionsOf']>;
  /** Takes it in or out of use, and returns once requests see it. */
  setActive(id: string, active: boolean): Promise<void>;
  remove(id: string): Promise<boolean>;
  /** Asks the upstream; null when the connection is gone. */
  test(id: string): Promise<ConnectionTest | null>;
}

/** An account at a provider: running means that requests may be sent to it. */
export function connectionPart(input: ConnectionPartInput): Part {
  const { connection, remove, setActive, conditions, test } = input;
  const { id, name, provider } = connection;
  return {
    // The connection's own id, so that another connection of the same name is another service.
    key: id,
    id: connectionServiceId(connection),
    name,
    kind: 'provider_connection',
    critical: false,
    description: `The connection to ${findProvider(provider)?.name ?? provider}.`,
    dependsOn: ['data-plane'],
    version: null,
    domain: 'connections',
    status: () => statusOf(connection, conditions),
    checks: () => [lastTest(connection), lastRequests(conditions)],
    endpoints: () => [],
    lifeCycle: {
      confirm: false,
      restarts: false,
      openRequests: () => null,
      start: () => setActive(id, true),
      // Requests that were sent through it continue.
      async stop() {
        await setActive(id, false);
        return { interrupted: 0 };
      },
    },
    remove: () => remove(id),
    async probe() {
      const came = await test(id);
      if (came === null)
        throw new GatewayError('not_found', `The connection "${name}" was removed in the meantime`);
      return probeOf(name, came);
    },
  };
}

function connectionServiceId({ name }: Pick<ConnectionRecord, 'name'>): string {
  return `connection-${name}`;
}

function statusOf(connection: ConnectionRecord, conditions: ConnectionPartInput['conditions']): PartStatus {
  const { active, lastError, lastTestedAt, status } = connection;
  const code = status === 'needs-re-entry' ? 'credential_lost' : 'test_failed';
  const bad = status === 'failed' || status === 'needs-re-entry';
  const message = lastError ?? 'The last test failed';
  const base = { changedAt: null, startedAt: null };
  const error = bad ? { code, message, at: lastTestedAt } : null;
  if (!active) {
    const reason = { code: 'stopped_by_operator', message: 'The connection is disabled' };
    return { ...base, desired: 'stopped', state: 'stopped', reason, error };
  }
  const isKnownProvider = findProvider(connection.provider) !== undefined;
  if (!isKnownProvider) {
    const reason = { code: 'unknown_provider', message: 'This version does not know the provider' };
    return { ...base, desired: 'running', state: 'failed', reason, error };
  }
  const own = conditions.find(({ model }) => model === null)?.condition;
  if (!bad && own !== undefined && own.state !== 'ready' && own.state !== 'probing')
    return { ...base, desired: 'running', state: 'degraded', reason: reasonOf(own), error };
  if (!bad) return { ...base, desired: 'running', state: 'running', reason: null, error };
  // A failed test does not stop requests; without its credential nothing can be sent.
  const state = status === 'needs-re-entry' ? 'failed' : 'degraded';
  return { ...base, desired: 'running', state, reason: { code, message }, error };
}

function lastTest({ lastError, lastTestedAt, status }: ConnectionRecord): Check {
  const name = 'last_test';
  const observed_at = isoOrNull(lastTestedAt);
  switch (status) {
    case 'ok':
      return { name, observed_at, status: 'pass', output: 'the upstream answered' };
    case 'untested':
      return { name, observed_at, status: 'unknown', output: 'not tested yet' };
    case 'failed':
    case 'needs-re-entry':
      return { name, observed_at, status: 'fail', output: lastError ?? 'the last test failed' };
  }
}

function reasonOf(condition: Condition): { code: string; message: string } {
  return { code: condition.state.replace('-', '_'), message: conditionText(condition) };
}

/** `cooling until 12:00:03 UTC: rate limit`. */
function conditionText(condition: Condition): string {
  const until =
    'until' in condition ? ` until ${new Date(condition.until).toISOString().slice(11, 19)} UTC` : '';
  return 'reason' in condition ? `${condition.state}${until}: ${condition.reason}` : condition.state;
}

/** How the account stands after what requests met there. */
function lastRequests(conditions: ConnectionPartInput['conditions']): Check {
  const name = 'requests';
  const observed_at = null;
  const [worst] = conditions;
  if (worst === undefined) return { name, observed_at, status: 'pass', output: 'nothing is held against it' };
  const output = conditions
    .slice(0, 5)
    .map(({ condition, model }) =>
      model === null ? conditionText(condition) : `${model} ${conditionText(condition)}`,
    )
    .join('; ');
  const fails = worst.model === null && worst.condition.state === 'needs-attention';
  return { name, observed_at, status: fails ? 'fail' : 'warn', output };
}

function probeOf(name: string, { error, latencyMs, models, statusCode, valid }: ConnectionTest): Probe {
  const ms = Math.round(latencyMs);
  return {
    valid,
    message: valid
      ? `The connection "${name}" answered in ${ms} ms`
      : `The connection "${name}" failed: ${error ?? 'no reason was given'}`,
    result: {
      valid,
      error,
      status_code: statusCode,
      latency_ms: ms,
      models: models === null ? null : models.length,
    },
  };
}
