import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKeyedMutex } from './keyed-mutex.ts';

describe('a keyed mutex', () => {
  it('lets one after the other in, in their order, and other names beside them', async () => {
    const mutex = createKeyedMutex();
    const order: string[] = [];
    const release = await mutex.acquire('a');
    const second = mutex.runExclusive('a', () => order.push('second'));
    const third = mutex.runExclusive('a', () => order.push('third'));
    await mutex.runExclusive('b', () => order.push('other'));
    assert.deepEqual(order, ['other']);
    release();
    await Promise.all([second, third]);
    assert.deepEqual(order, ['other', 'second', 'third']);
  });

  it('goes on after a failure', async () => {
    const mutex = createKeyedMutex();
    const failed = mutex.runExclusive('a', () => Promise.reject(new Error('no')));
    const next = mutex.runExclusive('a', () => 'yes');
    await assert.rejects(failed, /no/);
    assert.equal(await next, 'yes');
  });

  it('lets nobody in twice when it is released twice', async () => {
    const mutex = createKeyedMutex();
    const first = await mutex.acquire('a');
    first();
    const second = await mutex.acquire('a');
    let isIn = false;
    const third = mutex.acquire('a').then((release) => {
      isIn = true;
      return release;
    });
    first();
    await mutex.runExclusive('b', () => {});
    assert.equal(isIn, false);
    second();
    (await third)();
  });
});
