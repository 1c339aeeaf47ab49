import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Channel, Delivery } from '../../../src/events/channels/channel.ts';
import type { CloudEvent } from '../../../src/events/cloudevents/event.ts';
import { waitFor } from '../gateway/gateway.ts';
import { fc } from '../machine/properties.ts';
import { cloudEvent, comparable, eventIn } from './cloud-event.ts';

/** What every channel does, as one suite that each kind of channel runs. */

export interface ChannelKind {
  readonly name: string;
  /** Why it cannot be tried on this machine, or false. */
  readonly skip?: string | false;
  /** Whether it has everything after the process ended. */
  readonly durable: boolean;
  /** False where nobody keeps what is published before anybody subscribes. */
  readonly keepsUnclaimed?: false;
  /** Whether events are JSON whole, where white space around JSON data goes. */
  readonly structured?: boolean;
  /** Whether only events of one source keep their order. */
  readonly orderedBySource?: true;
  /** Whether a message that is settled comes once more after a kill, because an earlier one was not. */
  readonly settlesInOrder?: true;
  /** How many cases run at the same time, where each of them waits long. */
  readonly concurrency?: number;
  /** Opens channels that have nothing in them; what they need ends with the test. */
  open(t: Cleanup): Promise<OpenedChannel>;
}

export interface Cleanup {
  after(fn: () => unknown): void;
}

export interface OpenedChannel {
  readonly channel: Channel;
  /** Another topic of the same queue. */
  readonly other: Channel;
  /** The time that leases and delays are measured in goes on. */
  advance(ms: number): Promise<void>;
  /** Publishes bytes that are no event; absent where nobody else can publish. */
  publishBytes?(bytes: Uint8Array): Promise<void>;
  /** Ends the process that has the channel open as a kill does, and opens it in another one. */
  restart?(): Promise<Channel>;
}

const LEASE_MS = 60_000;

export const testEvent = (id: string): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't' },
  data: null,
});

/** Receives until there are so many, and tells of no more than that. */
export async function receiveSome(channel: Channel, consumer: string, count: number): Promise<Delivery[]> {
  const received: Delivery[] = [];
  await waitFor(`${count} messages`, async () => {
    received.push(...(await channel.receive(consumer, count - received.length, LEASE_MS)));
    return received.length >= count;
  });
  return received;
}

const summary = (deliveries: readonly Delivery[]): string[] =>
  deliveries.map((delivery) => `${eventIn(delivery).attributes.id} ${delivery.attempt}`);

/** The ids and attempts of the next messages. */
const next = async (channel: Channel, consumer: string, count: number) =>
  summary(await receiveSome(channel, consumer, count));

const nothing = async (channel: Channel, consumer: string) =>
  assert.deepEqual(await channel.receive(consumer, 9, LEASE_MS), []);

async function first(channel: Channel, consumer: string): Promise<Delivery> {
  const [delivery] = await receiveSome(channel, consumer, 1);
  assert.ok(delivery);
  return delivery;
}

type Case = (opened: OpenedChannel, kind: ChannelKind) => Promise<void>;

const unclaimedCase = 'keeps what nobody subscribed to for the first who does';

const cases: Readonly<Record<string, Case>> = {
  async 'gives every consumer every event, in order, as it was'(
    { channel },
    { orderedBySource, structured },
  ) {
    await channel.subscribe('x');
    await channel.subscribe('y');
    const inOrder = (all: readonly CloudEvent[]) => (orderedBySource === true ? sortedBySource(all) : all);
    const sample = fc.sample(cloudEvent, 50);
    const events = inOrder(sample);
    for (const one of sample) await channel.publish(one);
    for (const consumer of ['x', 'y']) {
      const received = inOrder((await receiveSome(channel, consumer, 50)).map(eventIn));
      assert.deepEqual(
        received.map(({ attributes }) => attributes.id),
        events.map(({ attributes }) => attributes.id),
      );
      for (const [index, event] of received.entries())
        assert.deepEqual(textsOf(event, structured), textsOf(events[index] ?? event, structured));
    }
  },

  async 'takes events that are published at once'({ channel }) {
    await channel.subscribe('x');
    const ids = Array.from({ length: 200 }, (_, index) => String(index));
    await Promise.all(ids.map((id) => channel.publish(testEvent(id))));
    const received = await next(channel, 'x', ids.length);
    assert.deepEqual(new Set(received), new Set(ids.map((id) => `${id} 1`)));
  },

  async 'gives an event again when its lease ends, and tells that'({ advance, channel }) {
    await channel.subscribe('x');
    await channel.publish(testEvent('1'));
    await first(channel, 'x');
    await nothing(channel, 'x');
    const due = await channel.nextDueIn('x');
    assert.ok(due === null || (due > 0 && due <= LEASE_MS), String(due));
    await advance(LEASE_MS);
    const again = await first(channel, 'x');
    assert.deepEqual([again.attempt, again.crashes], [1, 1]);
    await channel.ack('x', again.id);
    await advance(LEASE_MS);
    await nothing(channel, 'x');
    assert.equal(await channel.nextDueIn('x'), null);
  },

  async 'keeps what is leased for as long as its lease is renewed'({ advance, channel }) {
    await channel.subscribe('x');
    await channel.publish(testEvent('1'));
    const { id } = await first(channel, 'x');
    for (let times = 0; times < 3; times += 1) {
      await advance(LEASE_MS / 2);
      await channel.renew('x', [id], LEASE_MS);
      await nothing(channel, 'x');
    }
    await channel.ack('x', id);
    await channel.renew('x', [id], LEASE_MS);
    await advance(LEASE_MS);
    await nothing(channel, 'x');
  },

  async 'gives an event again after the delay that was asked for, as the next attempt'({ advance, channel }) {
    await channel.subscribe('x');
    await channel.publish(testEvent('1'));
    const { id } = await first(channel, 'x');
    const failures = [{ attempt: 1, at: 1_700_000_000_000, status: 503, error: 'Überlast' }];
    await channel.retry('x', id, 3_600_000, failures);
    await advance(3_000_000);
    await nothing(channel, 'x');
    const due = await channel.nextDueIn('x');
    assert.ok(due !== null && due > 0 && due <= 600_000, String(due));
    await advance(600_000);
    const again = await first(channel, 'x');
    assert.deepEqual([again.attempt, again.crashes, again.failures], [2, 0, failures]);
    await channel.retry('x', again.id, 0, []);
    assert.deepEqual(await next(channel, 'x', 1), ['1 3']);
  },

  async 'forgets crashes at a retry, and counts them at each lease that ends'({ advance, channel }) {
    await channel.subscribe('x');
    await channel.publish(testEvent('1'));
    for (const crashes of [0, 1, 2]) {
      const delivery = await first(channel, 'x');
      assert.deepEqual([delivery.attempt, delivery.crashes], [1, crashes]);
      if (crashes === 2) await channel.retry('x', delivery.id, 0, []);
      else await advance(LEASE_MS);
    }
    const { attempt, crashes } = await first(channel, 'x');
    assert.deepEqual([attempt, crashes], [2, 0]);
  },

  async 'gives what was given back at once, as the same attempt'({ channel }) {
    await channel.subscribe('x');
    await channel.publish(testEvent('1'));
    const { id } = await first(channel, 'x');
    await channel.release('x', id);
    const again = await first(channel, 'x');
    assert.deepEqual([again.attempt, again.crashes], [1, 0]);
  },

  async 'settles a delivery once'({ channel }) {
    await channel.subscribe('x');
    for (const id of ['1', '2']) await channel.publish(testEvent(id));
    const [one, two] = await receiveSome(channel, 'x', 2);
    assert.ok(one && two);
    await channel.ack('x', one.id);
    for (const again of [one.id, 'none-such']) {
      await channel.ack('x', again);
      await channel.retry('x', again, 0, []);
      await channel.release('x', again);
    }
    await nothing(channel, 'x');
    await channel.release('x', two.id);
    assert.deepEqual(await next(channel, 'x', 1), ['2 1']);
  },

  async 'gives no more than asked, and one consumer’s ack is its own'({ channel }) {
    for (const consumer of ['x', 'y']) await channel.subscribe(consumer);
    for (const id of ['1', '2', '3']) await channel.publish(testEvent(id));
    const two = await receiveSome(channel, 'x', 2);
    assert.equal(two.length, 2);
    for (const { id } of two) await channel.ack('x', id);
    assert.deepEqual(await next(channel, 'x', 1), ['3 1']);
    await nothing(channel, 'x');
    assert.deepEqual(await next(channel, 'y', 3), ['1 1', '2 1', '3 1']);
  },

  async 'tells how much waits and how much is held'({ channel }) {
    await channel.subscribe('x');
    for (const id of ['1', '2', '3']) await channel.publish(testEvent(id));
    const { id } = await first(channel, 'x');
    const depthIs = async (waiting: number, held: number) => {
      const expected = { waiting, held };
      await waitFor('the depth', async () => {
        const depth = await channel.depth('x');
        return depth.held === held && (depth.waiting === null || depth.waiting === waiting);
      }).catch(async () => assert.deepEqual(await channel.depth('x'), expected));
    };
    await depthIs(2, 1);
    await channel.retry('x', id, LEASE_MS, []);
    await depthIs(3, 0);
    for (const delivery of await receiveSome(channel, 'x', 2)) await channel.ack('x', delivery.id);
    await depthIs(1, 0);
  },

  async [unclaimedCase]({ channel }) {
    await channel.publish(testEvent('1'));
    await channel.subscribe('x');
    await channel.subscribe('y');
    await channel.publish(testEvent('2'));
    assert.deepEqual(await next(channel, 'x', 2), ['1 1', '2 1']);
    assert.deepEqual(await next(channel, 'y', 1), ['2 1']);
    await nothing(channel, 'y');
  },

  async 'keeps what waits for those whose subscription ended'({ channel, other }) {
    for (const consumer of ['x', 'y']) await channel.subscribe(consumer);
    await other.subscribe('y');
    await channel.publish(testEvent('1'));
    await channel.endOtherSubscriptions(new Set(['x']));
    await other.publish(testEvent('3'));
    await channel.subscribe('y');
    await channel.publish(testEvent('4'));
    assert.deepEqual(await next(channel, 'x', 2), ['1 1', '4 1']);
    assert.deepEqual(await next(channel, 'y', 2), ['1 1', '4 1']);
    assert.deepEqual(await next(other, 'y', 1), ['3 1']);
  },

  async 'keeps topics apart, and tells of what comes'({ channel, other }) {
    let arrivals = 0;
    const end = channel.onArrival(() => {
      arrivals += 1;
    });
    await channel.subscribe('x');
    await other.subscribe('x');
    await other.publish(testEvent('1'));
    await nothing(channel, 'x');
    arrivals = 0;
    await channel.publish(testEvent('2'));
    await waitFor('the arrival', () => arrivals > 0);
    end();
    assert.deepEqual(await next(channel, 'x', 1), ['2 1']);
    assert.deepEqual(await next(other, 'x', 1), ['1 1']);
  },
};

export function describeChannel(kind: ChannelKind): void {
  const options = { skip: kind.skip ?? false, concurrency: kind.concurrency ?? 1 };
  describe(`a channel of the kind ${kind.name}`, options, () => {
    for (const [name, run] of Object.entries(cases)) {
      const skip = name === unclaimedCase && kind.keepsUnclaimed === false;
      it(name, { skip }, async (t) => run(await kind.open(t), kind));
    }

    it('delivers bytes that are not an event as they are', async (t) => {
      const { channel, publishBytes } = await kind.open(t);
      if (publishBytes === undefined) return t.skip('nobody else can publish');
      await channel.subscribe('x');
      await publishBytes(Buffer.from('no event'));
      await channel.publish(testEvent('1'));
      const both = await receiveSome(channel, 'x', 2);
      const [poison, good] = [
        both.find(({ content }) => !content.ok),
        both.find(({ content }) => content.ok),
      ];
      assert.ok(poison && good && !poison.content.ok);
      assert.equal(Buffer.from(poison.content.bytes).toString(), 'no event');
      assert.notEqual(poison.content.problem, '');
      assert.equal(eventIn(good).attributes.id, '1');
      await channel.retry('x', poison.id, 0, []);
      const again = await first(channel, 'x');
      assert.ok(!again.content.ok);
      assert.deepEqual([Buffer.from(again.content.bytes).toString(), again.attempt], ['no event', 2]);
      await channel.ack('x', again.id);
      await nothing(channel, 'x');
    });

    it('has everything after the process was killed', { skip: !kind.durable }, async (t) => {
      const { advance, channel, restart } = await kind.open(t);
      assert.ok(restart);
      await channel.subscribe('x');
      for (const id of ['1', '2', '3']) await channel.publish(testEvent(id));
      const [one, two] = await receiveSome(channel, 'x', 2);
      assert.ok(one && two);
      const failures = [{ attempt: 1, at: 1_700_000_000_000, status: null, error: 'no answer' }];
      await channel.retry('x', two.id, LEASE_MS, failures);
      const reopened = await restart();
      await reopened.subscribe('x');
      await advance(LEASE_MS);
      const repeated = kind.settlesInOrder === true ? ['2 1'] : [];
      const received = await receiveSome(reopened, 'x', 3 + repeated.length);
      assert.deepEqual(summary(received).sort(), ['1 1', ...repeated, '2 2', '3 1']);
      const retried = received.find((delivery) => delivery.attempt === 2);
      assert.equal(retried?.crashes, 0);
      for (const { id } of received) await reopened.ack('x', id);
      await nothing(reopened, 'x');
    });
  });
}

/** Attributes as texts: not every queue knows of types. */
function textsOf(event: CloudEvent, structured = false) {
  const { attributes, data } = comparable(event);
  return {
    data: structured ? String(data).trim() : data,
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)])),
  };
}

/** Those of one source stay in their order. */
const sortedBySource = (events: readonly CloudEvent[]): CloudEvent[] =>
  [...events].sort(
    ({ attributes: { source: a } }, { attributes: { source: b } }) => Number(a > b) - Number(a < b),
  );
