import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { cloudEvent, comparable } from '../../../test/support/cloud-event.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { fc } from '../../../test/support/properties.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { type Channel, ChannelFull } from './channel.ts';
import { createMemoryChannel } from './memory.ts';
import { openEventDatabase } from './sqlite.ts';

/** What every channel does. A member is one line more in `kinds`. */

interface Opened {
  channel: Channel;
  /** Another topic of the same queue. */
  other: Channel;
  close(): Promise<void>;
}

interface Kind {
  name: string;
  open(folder: string, now: () => number): Opened;
  durable: boolean;
}

const kinds: readonly Kind[] = [
  {
    name: 'memory',
    durable: false,
    open(_, now) {
      const channel = createMemoryChannel({ now });
      return { channel, other: createMemoryChannel({ now }), close: () => channel.close() };
    },
  },
  {
    name: 'sqlite',
    durable: true,
    open(folder, now) {
      const database = openEventDatabase(join(folder, 'events.db'), now);
      return { channel: database.channel('a'), other: database.channel('b'), close: database.close };
    },
  },
];

const event = (id: string): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't' },
  data: null,
});
const ids = async (received: ReturnType<Channel['receive']>) =>
  (await received).map(({ event: { attributes }, attempt }) => `${attributes.id} ${attempt}`);

for (const { durable, name, open } of kinds) {
  describe(`a channel of the kind ${name}`, () => {
    /** Runs with an open channel and a clock that stands still. */
    const opened =
      (work: (channel: Opened & { clock: { now: number }; folder: string }) => Promise<void>) =>
      async (t: { after(fn: () => void): void }) => {
        const folder = temporaryFolder(t);
        const clock = { now: 1_000_000 };
        const parts = open(folder, () => clock.now);
        try {
          await work({ ...parts, clock, folder });
        } finally {
          await parts.close();
        }
      };

    it(
      'gives every consumer every event, in order, as it was',
      opened(async ({ channel }) => {
        await channel.subscribe('x');
        await channel.subscribe('y');
        const events = fc.sample(cloudEvent, 50);
        await Promise.all(events.map((one) => channel.publish(one)));
        for (const consumer of ['x', 'y']) {
          const received = await channel.receive(consumer, 100, 1_000);
          assert.equal(received.length, events.length);
          assert.deepEqual(
            received.map((delivery) => comparable(delivery.event).attributes),
            events.map((one) => comparable(one).attributes),
          );
        }
      }),
    );

    it(
      'gives an event again when its lease ends, and never after it is done',
      opened(async ({ channel, clock }) => {
        await channel.subscribe('x');
        await channel.publish(event('1'));
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), ['1 1']);
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), []);
        assert.equal(await channel.nextDueIn('x'), 1_000);
        clock.now += 1_000;
        const [again] = await channel.receive('x', 9, 1_000);
        assert.equal(again?.attempt, 2);
        await channel.ack('x', again.id);
        clock.now += 5_000;
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), []);
        assert.equal(await channel.nextDueIn('x'), null);
      }),
    );

    it(
      'gives an event again after the delay that was asked for',
      opened(async ({ channel, clock }) => {
        await channel.subscribe('x');
        await channel.publish(event('1'));
        const [first] = await channel.receive('x', 9, 1_000);
        await channel.retry('x', first?.id ?? 0, 60_000);
        clock.now += 59_999;
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), []);
        assert.equal(await channel.nextDueIn('x'), 1);
        clock.now += 1;
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), ['1 2']);
      }),
    );

    it(
      'does not count an attempt that was given back',
      opened(async ({ channel }) => {
        await channel.subscribe('x');
        await channel.publish(event('1'));
        const [first] = await channel.receive('x', 9, 1_000);
        await channel.release('x', first?.id ?? 0);
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), ['1 1']);
      }),
    );

    it(
      'gives no more than asked, and one consumer’s ack is its own',
      opened(async ({ channel }) => {
        for (const consumer of ['x', 'y']) await channel.subscribe(consumer);
        for (const id of ['1', '2', '3']) await channel.publish(event(id));
        const two = await channel.receive('x', 2, 1_000);
        assert.equal(two.length, 2);
        for (const { id } of two) await channel.ack('x', id);
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), ['3 1']);
        assert.deepEqual(await ids(channel.receive('y', 9, 1_000)), ['1 1', '2 1', '3 1']);
      }),
    );

    it(
      'keeps what nobody subscribed to for the first who does',
      opened(async ({ channel }) => {
        await channel.publish(event('1'));
        await channel.subscribe('x');
        await channel.subscribe('y');
        await channel.publish(event('2'));
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), ['1 1', '2 1']);
        assert.deepEqual(await ids(channel.receive('y', 9, 1_000)), ['2 1']);
      }),
    );

    it(
      'collects nothing more for those whose subscription ended, and keeps what waits for them',
      opened(async ({ channel, other }) => {
        for (const consumer of ['x', 'y']) await channel.subscribe(consumer);
        await other.subscribe('y');
        await channel.publish(event('1'));
        await channel.endOtherSubscriptions(new Set(['x']));
        await channel.publish(event('2'));
        await other.publish(event('3'));
        await channel.subscribe('y');
        await channel.publish(event('4'));
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), ['1 1', '2 1', '4 1']);
        assert.deepEqual(await ids(channel.receive('y', 9, 1_000)), ['1 1', '4 1']);
        assert.deepEqual(await ids(other.receive('y', 9, 1_000)), ['3 1']);
      }),
    );

    it(
      'keeps topics apart, and tells of what is published',
      opened(async ({ channel, other }) => {
        let told = 0;
        const end = channel.onPublish(() => {
          told += 1;
        });
        await channel.subscribe('x');
        await other.subscribe('x');
        await other.publish(event('1'));
        assert.equal(told, 0);
        assert.deepEqual(await ids(channel.receive('x', 9, 1_000)), []);
        await channel.publish(event('2'));
        assert.equal(told, 1);
        end();
        await channel.publish(event('3'));
        assert.equal(told, 1);
      }),
    );

    if (durable)
      it('has everything after it was closed, taken events too', async (t) => {
        const folder = temporaryFolder(t);
        const first = open(folder, () => 1_000);
        await first.channel.subscribe('x');
        for (const id of ['1', '2']) await first.channel.publish(event(id));
        await first.channel.receive('x', 1, 60_000);
        await first.close();
        await assert.rejects(first.channel.publish(event('3')));
        const second = open(folder, () => 1_001);
        assert.deepEqual(await ids(second.channel.receive('x', 9, 1_000)), ['1 2', '2 1']);
        await second.close();
      });
  });
}

describe('a channel in memory', () => {
  it('takes no more than it may hold, and takes again when there is room', async () => {
    const big = (id: string): CloudEvent => ({ ...event(id), data: Buffer.alloc(400) });
    const channel = createMemoryChannel({ now: () => 0, maxBytes: 1_000 });
    await channel.subscribe('x');
    for (const id of ['1', '2']) await channel.publish(big(id));
    await assert.rejects(channel.publish(big('3')), ChannelFull);
    const [first] = await channel.receive('x', 1, 1);
    await channel.ack('x', first?.id ?? 0);
    await channel.publish(big('3'));
  });
});
