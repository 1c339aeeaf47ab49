import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredHealthState } from '../../health/account.ts';
import type { HealthState } from '../../health/health-state.ts';
import type { Emitter } from '../types/emitter.ts';
import { createHealthEvents } from './health.ts';

const until = Date.UTC(2026, 10, 22);
const cooling = (reason: string): HealthState => ({
  state: 'cooling',
  since: 0,
  failures: 1,
  reason,
  until,
  namedByUpstream: false,
});
const probing: HealthState = { state: 'probing', since: 0, failures: 1, reason: 'unreachable' };
const of = (healthState: HealthState | null, model: string | null = null): StoredHealthState => ({
  connectionId: 'con_1',
  model,
  healthState,
  fingerprint: null,
});

function setUp() {
  const told: [name: string, subject: string | null, data: Record<string, unknown>][] = [];
  const emitter: Emitter = {
    wants: () => true,
    emit: (name, { data, subject }) => told.push([name, subject, data]),
  };
  const health = createHealthEvents(emitter, (id) =>
    id === 'con_1' ? { name: 'work', provider: 'openai' } : null,
  );
  const changes = (...all: StoredHealthState[]) => {
    for (const one of all) health.changed(one);
    return told.splice(0).map(([name]) => name);
  };
  return { health, told, changes };
}

describe('the events of health', () => {
  it('report once that a connection is down, however often it fails, and once that it answers again', () => {
    const { changes, health, told } = setUp();
    health.changed(of(cooling('unreachable')));
    assert.deepEqual(told, [
      [
        'provider.down',
        'con_1',
        {
          connection_id: 'con_1',
          connection: 'work',
          provider: 'openai',
          model: null,
          reason: 'unreachable',
          until: '2026-11-22T00:00:00.000Z',
        },
      ],
    ]);
    told.length = 0;
    const failing = Array.from({ length: 1_000 }, () => [of(probing), of(cooling('unreachable'))]).flat();
    assert.deepEqual(changes(...failing), []);
    assert.deepEqual(changes(of(null), of(null)), ['provider.recovered']);
  });

  it('emit one event for each change of a connection that flaps', () => {
    const { changes } = setUp();
    const flapping = Array.from({ length: 3 }, () => [of(cooling('unreachable')), of(null)]).flat();
    assert.deepEqual(changes(...flapping), [
      'provider.down',
      'provider.recovered',
      'provider.down',
      'provider.recovered',
      'provider.down',
      'provider.recovered',
    ]);
  });

  it('distinguish a rate limit from an outage, and an outage of a model from one of the connection', () => {
    const { changes } = setUp();
    assert.deepEqual(changes(of(cooling('rate limit'))), ['provider.ratelimited']);
    assert.deepEqual(changes(of(cooling('unreachable'))), ['provider.down']);
    assert.deepEqual(changes(of(null)), ['provider.recovered']);
    assert.deepEqual(changes(of(cooling('server error'), 'gpt')), ['circuit.opened']);
    assert.deepEqual(changes(of(cooling('rate limit'), 'gpt')), ['circuit.closed', 'provider.ratelimited']);
    assert.deepEqual(changes(of(null, 'gpt')), ['provider.recovered']);
  });

  it('remember what was reported before a restart', () => {
    const { changes, health } = setUp();
    health.remember([of(cooling('unreachable'))]);
    assert.deepEqual(changes(of(cooling('unreachable'))), []);
    assert.deepEqual(changes(of(null)), ['provider.recovered']);
  });
});
