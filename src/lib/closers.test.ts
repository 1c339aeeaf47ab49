import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CloseFault, type CloseLimits, type Closers, createClosers } from './closers.ts';

const patient = { partMs: 600_000, totalMs: 600_000 };

async function faultsOf(closers: Closers, limits: CloseLimits): Promise<CloseFault[]> {
  const faults: CloseFault[] = [];
  await closers.closeAll(limits, (fault) => faults.push(fault));
  return faults;
}

describe('closers', () => {
  it('close the last part first, one after the other, and each once', async () => {
    const closers = createClosers();
    const order: string[] = [];
    closers.add('store', () => void order.push('store'));
    closers.add('ledger', async () => {
      await new Promise(setImmediate);
      order.push('ledger');
    });
    assert.deepEqual(await faultsOf(closers, patient), []);
    assert.deepEqual(await faultsOf(closers, patient), []);
    assert.deepEqual(order, ['ledger', 'store']);
  });

  it('continue after a part that failed, and name it', async () => {
    const closers = createClosers();
    const order: string[] = [];
    const error = new Error('the disk is full');
    closers.add('store', () => void order.push('store'));
    closers.add('ledger', () => Promise.reject(error));
    closers.add('events', () => {
      throw error;
    });
    assert.deepEqual(await faultsOf(closers, patient), [
      { kind: 'failed', name: 'events', error },
      { kind: 'failed', name: 'ledger', error },
    ]);
    assert.deepEqual(order, ['store']);
  });

  it('give up a part that never settles, even if nothing else keeps the process alive', async () => {
    const closers = createClosers();
    let closed = false;
    closers.add('store', () => {
      closed = true;
    });
    closers.add('ledger', () => new Promise(() => {}));
    const faults = await faultsOf(closers, { partMs: 10, totalMs: 600_000 });
    assert.deepEqual(
      faults.map(({ kind, name }) => [kind, name]),
      [['late', 'ledger']],
    );
    assert.equal(closed, true);
  });

  it('give each part a moment when the time for all of them is used up', async () => {
    const closers = createClosers();
    let closed = false;
    closers.add('store', async () => {
      await new Promise(setImmediate);
      closed = true;
    });
    closers.add('ledger', () => new Promise(() => {}));
    const faults = await faultsOf(closers, { partMs: 600_000, totalMs: 1 });
    assert.deepEqual(
      faults.map(({ name }) => name),
      ['ledger'],
    );
    assert.equal(closed, true);
  });
});
