import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settled } from '../../../test/support/machine/fake-clock.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Storage } from '../config/config.ts';
import { createLateSpool } from './late-spool.ts';
import { createMemorySpool } from './memory.ts';
import type { Spool } from './spool.ts';

const storage: Storage = { type: 'distributed', bytes: 1_000, whenFull: 'block' };
const event: CloudEvent = {
  attributes: { specversion: '1.0', id: '1', source: '/test', type: 't' },
  data: null,
};
const log = { error() {}, info() {} };

describe('a storage that is not open yet', () => {
  it('refuses events until it is open, then accepts them, and announces stored ones', async () => {
    const ready = Promise.withResolvers<Spool>();
    const spool = createLateSpool(storage, () => ready.promise, log);
    let told = 0;
    spool.onAdded(() => {
      told += 1;
    });
    assert.equal(await spool.add(event, ['a'], 1), 'unavailable');
    assert.deepEqual([await spool.next('a', 9), spool.waiting('a')], [[], 0]);
    const inner = createMemorySpool(storage);
    await inner.add(event, ['a'], 1);
    ready.resolve(inner);
    await settled();
    assert.equal(told, 1);
    assert.equal(spool.waiting('a'), 1);
    assert.equal(await spool.add(event, ['a'], 1), 'kept');
    assert.equal(told, 2);
    await spool.close();
    assert.equal(await spool.add(event, ['a'], 1), 'unavailable');
  });

  it('reports why it is not open, and can be closed', async () => {
    const spool = createLateSpool(storage, () => Promise.reject(new Error('unreachable')), log);
    await settled();
    assert.equal(spool.status().problem, 'unreachable');
    await spool.close();
  });
});
