import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { receiveSome, testEvent } from '../../../../test/support/events/channel-contract.ts';
import { waitFor } from '../../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { createLog } from '../../../lib/log.ts';
import { openEventDatabase } from '../../database/event-database.ts';
import type { Channel } from '../channel.ts';
import type { BrokerConnection, BrokerMessage, BrokerReceiver } from './broker.ts';
import { createBrokerChannel } from './broker-channel.ts';

interface FakeConnection {
  readonly receivers: BrokerReceiver[];
  lose(): void;
}

/** A broker that lets the test say when it is connected, and what it delivers. */
function openFake(t: TestContext) {
  const database = openEventDatabase(join(temporaryFolder(t), 'events.db'));
  const connections: FakeConnection[] = [];
  let allow = () => {};
  const allowed = new Promise<void>((resolve) => {
    allow = resolve;
  });
  const channel: Channel = createBrokerChannel({
    broker: {
      async connect(onLost) {
        await allowed;
        const receivers: BrokerReceiver[] = [];
        connections.push({ receivers, lose: () => onLost(new Error('cut')) });
        const connection: BrokerConnection = {
          warnings: [],
          publish: async () => {},
          subscribe: async () => {},
          unsubscribe: async () => {},
          async consume(_consumer, _prefetch, receiver) {
            receivers.push(receiver);
            return { stop: async () => {} };
          },
          waiting: async () => 0,
          close: async () => {},
        };
        return connection;
      },
    },
    background: { run: (_, work) => work(), problems: () => [] },
    channelId: 'main',
    database,
    retryStoreKey: 'main',
    log: createLog({ level: 'silent', write: () => {}, pretty: false }),
    now: Date.now,
  });
  t.after(async () => {
    await channel.close();
    await database.close();
  });
  return {
    channel,
    connections,
    connect: () => allow(),
  };
}

const deliver = (receiver: BrokerReceiver | undefined, id: string, more: Partial<BrokerMessage> = {}) =>
  receiver?.message({
    content: { ok: true, event: testEvent(id) },
    position: id,
    redelivered: true,
    unsettledBefore: false,
    ack: async () => {},
    giveBack: async () => {},
    ...more,
  });

describe('a channel of a broker', () => {
  it('consumes once, even if a receiver waited for the connection', async (t) => {
    const { channel, connect, connections } = openFake(t);
    await channel.receive('x', 1, 60_000);
    connect();
    await waitFor('a consumption', () => (connections[0]?.receivers.length ?? 0) > 0);
    await channel.receive('x', 1, 60_000);
    // The retry store answers after everything that the connection set off.
    await channel.depth('x');
    assert.equal(connections[0]?.receivers.length, 1);
  });

  it('keeps what the next consumption delivers, even if the one before ends late', async (t) => {
    const { channel, connect, connections } = openFake(t);
    connect();
    await channel.receive('x', 1, 60_000);
    await waitFor('a consumption', () => (connections[0]?.receivers.length ?? 0) > 0);
    connections[0]?.lose();
    await waitFor('the next one', () => (connections[1]?.receivers.length ?? 0) > 0);
    deliver(connections[1]?.receivers[0], '1');
    connections[0]?.receivers[0]?.onEnd(new Error('late'));
    const [delivery] = await receiveSome(channel, 'x', 1);
    assert.ok(delivery?.content.ok);
    assert.equal(delivery.content.event.attributes.id, '1');
  });

  it('recognizes settled messages among tens of thousands of redeliveries', async (t) => {
    const { channel, connect, connections } = openFake(t);
    connect();
    await channel.receive('x', 1, 60_000);
    await waitFor('a consumption', () => connections[0]?.receivers.length === 1);
    const numbers = Array.from({ length: 20_000 }, (_, index) => index + 1);
    const numbered = (number: number, time: bigint) => ({ numbered: { number, time } });
    for (const number of numbers) deliver(connections[0]?.receivers[0], String(number), numbered(number, 1n));
    for (const { id } of await channel.receive('x', numbers.length, 60_000)) await channel.ack('x', id);
    connections[0]?.lose();
    await waitFor('the next consumption', () => connections[1]?.receivers.length === 1);
    const again: string[] = [];
    const ack = async () => void again.push('');
    for (const number of numbers)
      deliver(connections[1]?.receivers[0], String(number), { ...numbered(number, 1n), ack });
    // The log has lost its end, and gave the number to another message.
    deliver(connections[1]?.receivers[0], '7 anew', numbered(7, 2n));
    const received = await channel.receive('x', 10, 60_000);
    assert.deepEqual(
      received.map(({ content }) => content.ok && content.event.attributes.id),
      ['7 anew'],
    );
    assert.equal(again.length, numbers.length);
  });
});
