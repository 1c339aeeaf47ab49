import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Emitter } from '../types/emitter.ts';
import { createOutageEvents } from './outages.ts';

function setUp() {
  const told: [name: string, data: unknown][] = [];
  const emitter: Emitter = { wants: () => true, emit: (name, { data }) => void told.push([name, data]) };
  return { told, outages: createOutageEvents(emitter) };
}

it('reports an outage of the database when it begins and when it ends, once each', () => {
  const { outages, told } = setUp();
  outages.storeChanged(null, 0);
  outages.storeChanged({ since: 1_000, message: 'db does not answer: ECONNREFUSED' }, 0);
  outages.storeChanged({ since: 1_000, message: 'db does not answer: ETIMEDOUT' }, 2);
  outages.storeChanged(null, 3);
  outages.storeChanged(null, 0);
  const since = '1970-01-01T00:00:01.000Z';
  assert.deepEqual(told, [
    ['store.degraded', { reason: 'db does not answer: ECONNREFUSED', since, rows_waiting: 0 }],
    ['store.recovered', { reason: null, since, rows_waiting: 3 }],
  ]);
});

it('reports that limits are not shared, even if that began before anybody listened', () => {
  const { outages, told } = setUp();
  outages.sharingChanged({ reason: null, failureMode: 'refuse' });
  outages.tellAgain();
  assert.equal(told.length, 0);
  outages.sharingChanged({ reason: 'Redis cannot be reached', failureMode: 'refuse' });
  outages.sharingChanged({ reason: 'Redis answers too late', failureMode: 'refuse' });
  assert.deepEqual(told.splice(0), [
    ['limits.degraded', { reason: 'Redis cannot be reached', failure_mode: 'refuse' }],
  ]);
  outages.tellAgain();
  assert.deepEqual(
    told.splice(0).map(([name]) => name),
    ['limits.degraded'],
  );
  outages.sharingChanged({ reason: null, failureMode: 'refuse' });
  assert.deepEqual(told, [['limits.recovered', { reason: null, failure_mode: 'refuse' }]]);
});
