import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stub } from '../../../test/support/machine/stub.ts';
import type { Store } from '../../store/database.ts';
import type { Lease } from './lease.ts';
import { leaseStore } from './lease-store.ts';

const lease = stub<Lease>({ former: [], key: 'a budget', me: 'here', tally: {} });

/** What is told when the store answers a write like this. */
async function toldOf(insertMany: Store['insertMany']): Promise<unknown[]> {
  const results: unknown[] = [];
  const store = stub<Store>({ insertMany, node: '' });
  leaseStore(store).save(
    lease,
    (error) => results.push(error),
    () => results.push('saved'),
  );
  await new Promise((done) => setImmediate(done));
  return results;
}

it('reports why a lease was not stored, by a store that throws and by one that fails later', async () => {
  const fault = new Error('the disk is full');
  const throwing = () => {
    throw fault;
  };
  assert.deepEqual(await toldOf(throwing), [fault]);
  assert.deepEqual(await toldOf(() => Promise.reject(fault)), [fault]);
  assert.deepEqual(await toldOf(() => true), ['saved']);
  assert.deepEqual(await toldOf(async () => true), ['saved']);
  assert.deepEqual(
    await toldOf(() => false),
    [],
    'a file that is locked is tried again with the next report',
  );
});
