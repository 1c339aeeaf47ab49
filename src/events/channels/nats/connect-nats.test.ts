import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, nanos } from '@nats-io/transport-node';
import { hasNats, startNats } from '../../../../test/support/brokers/nats.ts';
import type { PrivateBroker } from '../../../../test/support/brokers/server-process.ts';
import { openBrokerChannels } from '../../../../test/support/events/broker-channel.ts';
import { describeChannel, receiveSome, testEvent } from '../../../../test/support/events/channel-contract.ts';
import { guarantees } from '../../../../test/support/events/channel-guarantees.ts';
import { eventIn } from '../../../../test/support/events/cloud-event.ts';
import { waitFor } from '../../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { delayedPort } from '../../../../test/support/upstream/delayed-port.ts';

const folder = temporaryFolder({ after });
let server: PrivateBroker;

before(async () => {
  if (hasNats) server = await startNats(folder);
});
after(() => server?.kill());

describeChannel({
  name: 'nats',
  skip: hasNats ? false : 'nats-server is not installed',
  durable: guarantees.nats.survivesGateway,
  open: (t) =>
    openBrokerChannels(t, {
      scheme: 'nats',
      url: server.url,
      async publishBytes(topic, bytes) {
        const connection = await connect({ servers: server.url });
        connection.publish(topic, bytes);
        await connection.drain();
      },
    }),
});

describe('a channel on NATS', { skip: hasNats ? false : 'nats-server is not installed' }, () => {
  it('has room for the next message, even if one in hand was delivered several times', async (t) => {
    const topics: string[] = [];
    const { channel } = await openBrokerChannels(t, { scheme: 'nats', url: server.url }, undefined, (topic) =>
      topics.push(topic),
    );
    const connection = await connect({ servers: server.url });
    t.after(() => connection.close());
    const { consumers } = await jetstreamManager(connection);
    const stream = `modelgate_${topics[0]}`;
    await channel.subscribe('x', 2);
    await consumers.update(stream, 'modelgate_x', { ack_wait: nanos(100) });
    await channel.publish(testEvent('1'));
    const [one] = await receiveSome(channel, 'x', 1);
    await waitFor('another delivery', async () => {
      const { delivered } = await consumers.info(stream, 'modelgate_x');
      return delivered.consumer_seq >= 2;
    });
    await consumers.update(stream, 'modelgate_x', { ack_wait: nanos(30_000) });
    await channel.ack('x', one?.id ?? '');
    for (const id of ['2', '3']) await channel.publish(testEvent(id));
    const received = (await receiveSome(channel, 'x', 2)).map((next) => eventIn(next).attributes.id);
    assert.deepEqual(received, ['2', '3']);
  });

  it('releases in order what arrives while it is closed', async (t) => {
    const network = await delayedPort(() => server.port);
    t.after(() => network.close());
    const url = server.url.replace(`:${server.port}`, `:${network.port}`);
    const topics: string[] = [];
    const channels = await openBrokerChannels(t, { scheme: 'nats', url }, undefined, (topic) =>
      topics.push(topic),
    );
    const connection = await connect({ servers: server.url });
    t.after(() => connection.close());
    const { consumers } = await jetstreamManager(connection);
    const [topic = ''] = topics;
    const head = headers();
    head.set('content-type', 'application/cloudevents+json');
    const publish = (id: string) =>
      jetstream(connection).publish(topic, JSON.stringify(testEvent(id).attributes), { headers: head });
    let { channel } = channels;
    const { restart } = channels;
    assert.ok(restart);
    await channel.subscribe('x');
    network.delayMs = 200;
    await channel.receive('x', 1, 60_000);
    await waitFor('the request for messages', async () => {
      const { num_waiting } = await consumers.info(`modelgate_${topic}`, 'modelgate_x');
      return num_waiting > 0;
    });
    const ids = Array.from({ length: 100 }, (_, index) => String(index));
    const restarting = restart();
    for (const id of ids.slice(0, 50)) await publish(id);
    channel = await restarting;
    network.delayMs = 0;
    for (const id of ids.slice(50)) await publish(id);
    await channel.subscribe('x');
    const received = (await receiveSome(channel, 'x', ids.length)).map((one) => eventIn(one).attributes.id);
    assert.deepEqual(received, ids);
  });

  it('delivers unsettled messages even if the server lost the position of a trigger', async (t) => {
    const folder = temporaryFolder(t);
    const own = await startNats(folder);
    t.after(() => own.kill());
    const { channel } = await openBrokerChannels(t, { scheme: 'nats', url: own.url });
    for (const consumer of ['first', 'second']) await channel.subscribe(consumer);
    for (const id of ['1', '2']) await channel.publish(testEvent(id));
    await own.kill();
    // NATS 2.9 writes these files in place.
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const positions = files.filter((file) => file.endsWith('o.dat'));
    for (const file of positions) rmSync(join(folder, file));
    await own.start();
    for (const consumer of ['first', 'second']) {
      const received = (await receiveSome(channel, consumer, 2)).map((one) => eventIn(one).attributes.id);
      assert.deepEqual(received, ['1', '2'], consumer);
    }
  });
});
