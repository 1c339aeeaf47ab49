import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { cloudEvent, comparable } from '../../../test/support/events/cloud-event.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { type S3Stub, startS3 } from '../../../test/support/servers/s3.ts';
import { createLog } from '../../lib/log.ts';
import { type CloudEvent, eventSize } from '../cloudevents/event.ts';
import type { Storage } from '../config/config.ts';
import { localSegments } from './log/local-segments.ts';
import { openLogSpool } from './log/log-spool.ts';
import { createMemorySpool } from './memory.ts';
import { objectSegments } from './objects/object-segments.ts';
import { openObjects } from './objects/open-objects.ts';
import { segmentBytesOf } from './open.ts';
import type { Spool } from './spool.ts';

/** What every storage of events does. A member is one line more in `kinds`. */

let s3: S3Stub | null = null;
before(async () => {
  s3 = await startS3();
});
after(() => s3?.close());

/** Each opening is another gateway, as far as the storage can tell. */
async function openDistributed(storage: Omit<Storage, 'type'>, address: string): Promise<Spool> {
  const environment: Record<string, string> = {
    AWS_ACCESS_KEY_ID: 'stub-key',
    AWS_SECRET_ACCESS_KEY: 'stub-secret',
  };
  const store = await openObjects(address, {
    listening: () => null,
    log,
    now: Date.now,
    variable: (name) => environment[name],
  });
  const segments = objectSegments({ store, prefix: 'app', owner: randomUUID(), now: Date.now });
  return openLogSpool({ storage: { ...storage, type: 'distributed' }, segments, sourceId: 'app', log });
}

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
  {
    name: 'local',
    durable: true,
    open: (storage, folder) => {
      const segments = localSegments({
        folder,
        segmentBytes: segmentBytesOf(storage.bytes),
        minFreeBytes: 0,
      });
      return openLogSpool({ storage: { ...storage, type: 'local' }, segments, sourceId: 'app', log });
    },
  },
  {
    name: 'distributed (a folder that is mounted)',
    durable: true,
    open: (storage, folder) => openDistributed(storage, `file://${folder}/mnt`),
  },
  {
    name: 'distributed (S3)',
    durable: true,
    open: (storage, folder) =>
      openDistributed(storage, `s3://bucket${folder}/x?endpoint=${encodeURIComponent(s3?.url ?? '')}`),
  },
];

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
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
      (work: (open: (storage?: Partial<Storage>) => Promise<Spool>) => Promise<void>) =>
      async (t: { after(fn: () => void): void }) => {
        const folder = temporaryFolder(t);
        const spools: Spool[] = [];
        try {
          await work(async (storage) => {
            const spool = await kind.open({ bytes: MIB, whenFull: 'block', ...storage }, folder);
            spools.push(spool);
            return spool;
          });
        } finally {
          for (const spool of spools) await spool.close();
        }
      };

    it(
      'returns the events of each channel unchanged and in order until they are done',
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
      'skips events that were done before older ones',
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
      'announces new events',
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
      'is limited in size, and frees the space of an event that every channel has',
      opened(async (open) => {
        const spool = await open({ bytes: 4_700 });
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
        assert.deepEqual([events, maxBytes], [4, 4_700]);
        assert.ok(bytes >= 4 * eventSize(event('1', 1_000)) && bytes <= 4_700);
      }),
    );

    it(
      'drops the new event and never an old one, if configured so',
      opened(async (open) => {
        const spool = await open({ bytes: 4_700, whenFull: 'drop' });
        const outcomes: string[] = [];
        for (const id of ['1', '2', '3', '4', '5', '6'])
          outcomes.push(await spool.add(event(id, 1_000), ['a'], FOREVER));
        assert.deepEqual(outcomes, ['kept', 'kept', 'kept', 'kept', 'dropped', 'dropped']);
        assert.deepEqual(await ids(spool, 'a'), ['1', '2', '3', '4']);
      }),
    );

    it(
      'accepts nothing once it is closed',
      opened(async (open) => {
        const spool = await open();
        await spool.close();
        assert.equal(await spool.add(event('1'), ['a'], FOREVER), 'unavailable');
      }),
    );

    if (!kind.durable) return;

    it(
      'keeps events that are not done when it is reopened, more than once',
      opened(async (open) => {
        const first = await open();
        const events = fc.sample(cloudEvent, 20);
        for (const one of events) await first.add(one, ['a', 'b'], FOREVER);
        await finish(first, 'a', 15);
        await finish(first, 'b', 20);
        await first.close();
        const second = await open();
        assert.deepEqual([second.waiting('a'), second.waiting('b')], [5, 0]);
        assert.deepEqual(
          (await second.next('a', 99)).map((one) => comparable(one.event)),
          events.slice(15).map(comparable),
        );
        await finish(second, 'a', 5);
        await second.close();
        const third = await open();
        assert.equal(third.status().bytes, 0);
        await third.add(event('new'), ['a'], FOREVER);
        await third.close();
        const fourth = await open();
        assert.deepEqual(await ids(fourth, 'a'), ['new']);
      }),
    );

    it(
      'stores much more than it keeps in memory, and returns all of it in order',
      opened(async (open) => {
        const spool = await open({ bytes: 20 * MIB });
        const added: Promise<unknown>[] = [];
        for (let index = 0; index < 400; index += 1)
          added.push(spool.add(event(String(index), 40_000), ['a'], FOREVER));
        await Promise.all(added);
        await spool.close();
        const again = await open({ bytes: 20 * MIB });
        const seen: string[] = [];
        for (let left = 400; left > 0; left -= 25) {
          seen.push(...(await ids(again, 'a', 25)));
          await finish(again, 'a', 25);
        }
        assert.deepEqual(
          seen,
          Array.from({ length: 400 }, (_, index) => String(index)),
        );
        assert.equal(again.status().bytes, 0);
      }),
    );
  });
}
