import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudEvent, comparable } from '../../../test/support/cloud-event.ts';
import { fc } from '../../../test/support/properties.ts';
import { type CloudEvent, eventSize } from '../cloudevents/event.ts';
import type { Storage } from '../config/config.ts';
import { createMemorySpool } from './memory.ts';
import type { Spool } from './spool.ts';

/** What every storage of events does. A member is one line more in `kinds`. */

interface Kind {
  name: string;
  durable: boolean;
  open(storage: Omit<Storage, 'type'>, folder: string): Promise<Spool>;
}

const kinds: readonly Kind[] = [
  {
    name: 'memory',
    durable: false,
    open: async (storage) => createMemorySpool({ ...storage, type: 'memory' }),
  },
];

const FOREVER = Number.POSITIVE_INFINITY;
const MIB = 1_048_576;
const event = (id: string, bytes = 0): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't' },
  data: bytes === 0 ? null : Buffer.alloc(bytes, 'x'),
});
const ids = async (spool: Spool, channel: string, limit = 99) =>
  (await spool.next(channel, limit)).map((one) => one.event.attributes.id);
/** Ends what waits first of all for the channel. */
async function finish(spool: Spool, channel: string, count: number): Promise<void> {
  const oldest = await spool.next(channel, count);
  spool.done(
    channel,
    oldest.map(({ sequence }) => sequence),
  );
}

for (const kind of kinds) {
  describe(`a storage of the kind ${kind.name}`, () => {
    const opened =
      (work: (open: (storage?: Partial<Storage>) => Promise<Spool>) => Promise<void>) => async () => {
        const spools: Spool[] = [];
        try {
          await work(async (storage) => {
            const spool = await kind.open({ bytes: MIB, whenFull: 'block', ...storage }, '');
            spools.push(spool);
            return spool;
          });
        } finally {
          for (const spool of spools) await spool.close();
        }
      };

    it(
      'gives each channel its events, in order, as they were, until they are done',
      opened(async (open) => {
        const spool = await open();
        const events = fc.sample(cloudEvent, 30);
        for (const one of events) assert.equal(await spool.add(one, ['a', 'b'], FOREVER), 'kept');
        await spool.add(event('for b alone'), ['b'], FOREVER);
        const ofA = await spool.next('a', 99);
        assert.deepEqual(
          ofA.map((one) => comparable(one.event)),
          events.map(comparable),
        );
        assert.deepEqual(
          (await spool.next('a', 2)).map(({ sequence }) => sequence),
          ofA.slice(0, 2).map(({ sequence }) => sequence),
        );
        await finish(spool, 'a', 29);
        assert.deepEqual([spool.waiting('a'), spool.waiting('b'), spool.waiting('c')], [1, 31, 0]);
        assert.equal((await spool.next('a', 99)).length, 1);
        assert.equal((await spool.next('b', 99)).length, 31);
      }),
    );

    it(
      'skips what was done before older ones',
      opened(async (open) => {
        const spool = await open();
        for (const id of ['1', '2', '3']) await spool.add(event(id), ['a'], FOREVER);
        const [, second] = await spool.next('a', 9);
        spool.done('a', [second?.sequence ?? 0]);
        spool.done('a', [second?.sequence ?? 0]);
        assert.deepEqual(await ids(spool, 'a'), ['1', '3']);
      }),
    );

    it(
      'tells that events came',
      opened(async (open) => {
        const spool = await open();
        let told = 0;
        const end = spool.onAdded(() => {
          told += 1;
        });
        await spool.add(event('1'), ['a'], FOREVER);
        assert.equal(told, 1);
        end();
        await spool.add(event('2'), ['a'], FOREVER);
        assert.equal(told, 1);
      }),
    );

    it(
      'has its size, and makes room when every channel has an event',
      opened(async (open) => {
        const spool = await open({ bytes: 5_000 });
        for (const id of ['1', '2', '3', '4'])
          assert.equal(await spool.add(event(id, 1_000), ['a', 'b'], FOREVER), 'kept');
        const late = spool.add(event('5', 1_000), ['a', 'b'], FOREVER);
        assert.equal(await spool.add(event('6', 1_000), ['a', 'b'], 1), 'full');
        await finish(spool, 'a', 1);
        assert.equal(spool.status().events, 4);
        await finish(spool, 'b', 1);
        assert.equal(await late, 'kept');
        assert.deepEqual(await ids(spool, 'b'), ['2', '3', '4', '5']);
        assert.equal(await spool.add(event('large', 5_000), ['a'], FOREVER), 'too_large');
        const { bytes, events, maxBytes } = spool.status();
        assert.deepEqual([events, maxBytes], [4, 5_000]);
        assert.ok(bytes >= 4 * eventSize(event('1', 1_000)) && bytes <= 5_000);
      }),
    );

    it(
      'drops the new event and never an old one, where it is told to',
      opened(async (open) => {
        const spool = await open({ bytes: 5_000, whenFull: 'drop' });
        const outcomes: string[] = [];
        for (const id of ['1', '2', '3', '4', '5', '6'])
          outcomes.push(await spool.add(event(id, 1_000), ['a'], FOREVER));
        assert.deepEqual(outcomes, ['kept', 'kept', 'kept', 'kept', 'dropped', 'dropped']);
        assert.deepEqual(await ids(spool, 'a'), ['1', '2', '3', '4']);
      }),
    );

    it(
      'takes nothing once it is closed',
      opened(async (open) => {
        const spool = await open();
        await spool.close();
        assert.equal(await spool.add(event('1'), ['a'], FOREVER), 'unavailable');
      }),
    );
  });
}
