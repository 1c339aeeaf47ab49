import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { GatewayError } from '../../lib/error.ts';
import { openStore } from '../../store/database.ts';
import type { Answer } from '../answer.ts';
import { createIdempotencyStore, idempotencyKey } from './idempotency.ts';

async function opened(test: TestContext) {
  const folder = temporaryFolder(test);
  const store = await openStore(folder);
  test.after(() => store.close());
  const clock = { time: 1_800_000_000_000 };
  const storageKey = { key: Buffer.alloc(32, 7) };
  const open = () => createIdempotencyStore({ store, storageKey, now: () => clock.time });
  let runs = 0;
  const run = async (): Promise<Answer> => {
    runs += 1;
    return { status: 200, body: { results: [{ key: `sk-secret-${runs}` }] }, headers: { etag: '"1"' } };
  };
  const requestWith = (body: unknown = { name: 'a' }, key = 'k-1', userId = 'alice') => ({
    userId,
    key,
    content: ['/api', 'keys', body],
  });
  return { requestWith, clock, open, once: open(), run, runs: () => runs, store };
}

describe('a request with an idempotency key', () => {
  it('is carried out once and answered alike, also by the gateway’s next process', async (test) => {
    const { requestWith, once, open, run, runs, store } = await opened(test);
    const first = await once.answer(requestWith(), run);
    for (const again of [once, open()]) {
      const { body, headers, status } = await again.answer(requestWith(), run);
      assert.deepEqual([status, body], [first.status, first.body]);
      assert.deepEqual(headers, { ...first.headers, 'idempotency-replayed': 'true' });
    }
    assert.equal(runs(), 1);
    const rows = await store.db.selectFrom('idempotency').selectAll().execute();
    assert.equal(JSON.stringify(rows).includes('sk-secret'), false, 'what is shown once is sealed');
  });

  it('is distinct for another user, with another key, or after a day', async (test) => {
    const { requestWith, clock, once, run, runs } = await opened(test);
    for (const one of [
      requestWith(),
      requestWith({ name: 'a' }, 'k-2'),
      requestWith({ name: 'b' }, 'k-1', 'bob'),
    ])
      await once.answer(one, run);
    assert.equal(runs(), 3);
    clock.time += 24 * 3_600_000;
    await once.answer(requestWith({ name: 'quite another' }), run);
    assert.equal(runs(), 4);
  });

  it('is refused if the key was used with another request', async (test) => {
    const { requestWith, once, run, runs } = await opened(test);
    await once.answer(requestWith(), run);
    await assert.rejects(once.answer(requestWith({ name: 'b' }), run), {
      code: 'idempotency_key_reused',
      status: 422,
    });
    assert.equal(runs(), 1);
  });

  it('is a conflict while the same request is carried out', async (test) => {
    const { requestWith, once, run } = await opened(test);
    const gate = Promise.withResolvers<void>();
    const slow = once.answer(requestWith(), () => gate.promise.then(run));
    const others = Promise.allSettled(Array.from({ length: 20 }, () => once.answer(requestWith(), run)));
    for (const other of await others)
      assert.equal(other.status === 'rejected' && (other.reason as GatewayError).code, 'conflict');
    gate.resolve();
    await slow;
    assert.equal((await once.answer(requestWith(), run)).headers['idempotency-replayed'], 'true');
  });

  it('can be repeated after it was refused, and not when it broke off', async (test) => {
    const { requestWith, once, open, run, runs } = await opened(test);
    const refusal = new GatewayError('invalid_request', 'no');
    await assert.rejects(
      once.answer(requestWith(), () => Promise.reject(refusal)),
      refusal,
    );
    await once.answer(requestWith(), run);
    assert.equal(runs(), 1);
    const broken = new Error('the disk is full');
    await assert.rejects(
      once.answer(requestWith({}, 'k-2'), () => Promise.reject(broken)),
      broken,
    );
    for (const again of [once, open()])
      await assert.rejects(again.answer(requestWith({}, 'k-2'), run), /not known how far it went/);
  });

  it('is remembered for a day, a thousand for each user', async (test) => {
    const { requestWith, clock, once, run, store } = await opened(test);
    for (let index = 0; index < 1020; index++) {
      clock.time += 1;
      await once.answer(requestWith({}, `k-${index}`), run);
    }
    const count = async () => (await store.db.selectFrom('idempotency').select('name').execute()).length;
    assert.equal(await count(), 1000);
    clock.time += 24 * 3_600_000;
    await once.sweep();
    assert.equal(await count(), 0);
  });

  it('has a key of visible characters, bare or in quotes', () => {
    assert.equal(idempotencyKey(undefined), null);
    assert.equal(idempotencyKey('8e03978e-40d5'), '8e03978e-40d5');
    assert.equal(idempotencyKey('"8e03978e-40d5"'), '8e03978e-40d5');
    for (const bad of ['', '""', 'a b', 'a, b', 'x'.repeat(201), 'ä', '"a', 'a"b'])
      assert.throws(() => idempotencyKey(bad), { param: 'idempotency-key' }, bad);
  });
});
