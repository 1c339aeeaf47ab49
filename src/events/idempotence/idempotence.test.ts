import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { numberedEvent } from '../../../test/support/events/event-trigger.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { createKeyedMutex } from '../../lib/keyed-mutex.ts';
import { openEventDatabase } from '../database/event-database.ts';
import { createDatabaseHandled, createMemoryHandled, type HandledStore } from './handled-store.ts';
import { createIdempotence, windowOf } from './idempotence.ts';

const DAY_MS = 86_400_000;

interface Opened {
  readonly store: HandledStore;
  readonly clock: { now: number };
}

const kinds: readonly [name: string, open: (test: { after(fn: () => unknown): void }) => Opened][] = [
  [
    'in memory',
    () => {
      const clock = { now: 1_000 };
      return { clock, store: createMemoryHandled(() => clock.now) };
    },
  ],
  [
    'in a database',
    (test) => {
      const clock = { now: 1_000 };
      const database = openEventDatabase(join(temporaryFolder(test), 'events.db'));
      test.after(() => database.close());
      return { clock, store: createDatabaseHandled(database, () => clock.now) };
    },
  ],
];

const settle = async () => {};

for (const [name, open] of kinds)
  describe(`what a trigger remembers ${name}`, () => {
    const triggerWith = (store: HandledStore, trigger = 't') =>
      createIdempotence({ claims: createKeyedMutex(), trigger, retry: null, store });

    it('lets an event be handled once', async (t) => {
      const idempotence = triggerWith(open(t).store);
      const claim = await idempotence.begin(numberedEvent('1'), false);
      assert.ok(claim.kind === 'claimed');
      await claim.finish('done', settle, false);
      assert.deepEqual(await idempotence.begin(numberedEvent('1'), false), {
        kind: 'duplicate',
        differs: false,
      });
      assert.equal((await idempotence.begin(numberedEvent('2'), false)).kind, 'claimed');
    });

    it('lets it be handled again when it was not finished', async (t) => {
      const idempotence = triggerWith(open(t).store);
      const first = await idempotence.begin(numberedEvent('1'), false);
      assert.ok(first.kind === 'claimed');
      first.release();
      assert.equal((await idempotence.begin(numberedEvent('1'), false)).kind, 'claimed');
    });

    it('lets the second of two at once wait for the first', async (t) => {
      const idempotence = triggerWith(open(t).store);
      const first = await idempotence.begin(numberedEvent('1'), false);
      assert.ok(first.kind === 'claimed');
      const others = [1, 2, 3].map(() => idempotence.begin(numberedEvent('1'), false));
      await first.finish('done', settle, false);
      for (const other of others) assert.equal((await other).kind, 'duplicate');
    });

    it('keeps the claim when the message cannot be settled, and still remembers the event', async (t) => {
      const idempotence = triggerWith(open(t).store);
      const claim = await idempotence.begin(numberedEvent('1'), false);
      assert.ok(claim.kind === 'claimed');
      await assert.rejects(claim.finish('done', () => Promise.reject(new Error('no connection')), false));
      let answered = false;
      const other = idempotence.begin(numberedEvent('1'), false).finally(() => (answered = true));
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(answered, false);
      await claim.finish('done', settle, false);
      assert.equal((await other).kind, 'duplicate');
    });

    it('lets the next configuration of a trigger wait for what is being handled under the one before', async (t) => {
      const { store } = open(t);
      const shared = { claims: createKeyedMutex(), trigger: 't', retry: null, store };
      const claim = await createIdempotence(shared).begin(numberedEvent('1'), false);
      assert.ok(claim.kind === 'claimed');
      const next = createIdempotence(shared).begin(numberedEvent('1'), false);
      await claim.finish('done', settle, false);
      assert.equal((await next).kind, 'duplicate');
    });

    it('identifies events by source and id, separately for each trigger, whatever characters they have', async (t) => {
      const { store } = open(t);
      const handle = async (trigger: string, source: string, id: string) => {
        const answer = await triggerWith(store, trigger).begin(numberedEvent(id, { source }), false);
        if (answer.kind === 'claimed') await answer.finish('done', settle, false);
        return answer.kind;
      };
      assert.equal(await handle('t', 'a|b', 'c'), 'claimed');
      for (const [trigger, source, id] of [
        ['t', 'a', 'b|c'],
        ['t', 'a|', 'bc'],
        ['t', 'c', 'a|b'],
        ['t|a', 'b', 'c'],
        ['u', 'a|b', 'c'],
        ['t', 'a"', '"c'],
        ['t', 'A|B', 'c'],
      ] as const)
        assert.equal(await handle(trigger, source, id), 'claimed', JSON.stringify([trigger, source, id]));
      assert.equal(await handle('t', 'a|b', 'c'), 'duplicate');
    });

    it('says when a duplicate has other data', async (t) => {
      const idempotence = triggerWith(open(t).store);
      const claim = await idempotence.begin(numberedEvent('1'), false);
      assert.ok(claim.kind === 'claimed');
      await claim.finish('done', settle, false);
      const other = { ...numberedEvent('1'), data: Buffer.from('other') };
      assert.deepEqual(await idempotence.begin(other, false), { kind: 'duplicate', differs: true });
    });

    it('handles a replayed dead letter again, but not an event that is done', async (t) => {
      const idempotence = triggerWith(open(t).store);
      const claim = await idempotence.begin(numberedEvent('1'), false);
      assert.ok(claim.kind === 'claimed');
      await claim.finish('dead', settle, false);
      assert.equal((await idempotence.begin(numberedEvent('1'), false)).kind, 'duplicate');
      const again = await idempotence.begin(numberedEvent('1'), true);
      assert.ok(again.kind === 'claimed');
      await again.finish('done', settle, false);
      assert.equal((await idempotence.begin(numberedEvent('1'), true)).kind, 'duplicate');
    });

    it('forgets events when their window is over', async (t) => {
      const { clock, store } = open(t);
      const idempotence = triggerWith(store);
      const claim = await idempotence.begin(numberedEvent('1'), false);
      assert.ok(claim.kind === 'claimed');
      await claim.finish('done', settle, false);
      clock.now += DAY_MS - 1;
      assert.equal((await idempotence.begin(numberedEvent('1'), false)).kind, 'duplicate');
      clock.now += 1;
      assert.equal((await idempotence.begin(numberedEvent('1'), false)).kind, 'claimed');
    });
  });

describe('the memory of events', () => {
  it('lasts a day, and twice as long as retries may', () => {
    assert.equal(windowOf(null), DAY_MS);
    assert.equal(windowOf({ max: 3, delayMs: 1_000, growth: 'linear' }), DAY_MS);
    assert.equal(windowOf({ max: 100, delayMs: 3_600_000, growth: 'linear' }), 2 * 396_000_000);
  });

  it('is bounded in memory', async () => {
    const store = createMemoryHandled(() => 0, 2);
    const key = (id: string) => ({ trigger: 't', source: 's', id });
    for (const id of ['1', '2', '3']) await store.mark(key(id), { outcome: 'done', fingerprint: 0 }, 1_000);
    const known = await Promise.all(['1', '2', '3'].map((id) => store.find(key(id))));
    assert.deepEqual(
      known.map((one) => one !== null),
      [false, true, true],
    );
  });

  it('shrinks in a database, as events are handled', async (t) => {
    const file = join(temporaryFolder(t), 'events.db');
    const database = openEventDatabase(file);
    t.after(() => database.close());
    const store = createDatabaseHandled(database, () => clock);
    let clock = 0;
    const mark = (id: string) =>
      store.mark({ trigger: 't', source: 's', id }, { outcome: 'done', fingerprint: 0 }, 1_000);
    for (let index = 0; index < 100; index += 1) await mark(`old ${index}`);
    clock = 1_000;
    for (let index = 0; index < 100; index += 1) await mark(`new ${index}`);
    const { DatabaseSync } = await import('node:sqlite');
    const reader = new DatabaseSync(file, { readOnly: true });
    t.after(() => reader.close());
    assert.equal(Number(reader.prepare('select count(*) as n from handled').get()?.['n']), 100);
  });
});
