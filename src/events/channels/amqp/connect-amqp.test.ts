import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { connect } from 'amqplib';
import { runQueueFaults } from '../../../../test/endurance/queue-faults.ts';
import { hasRabbitmq, startRabbitmq } from '../../../../test/support/brokers/rabbitmq.ts';
import { openBrokerChannels } from '../../../../test/support/events/broker-channel.ts';
import { describeChannel, testEvent } from '../../../../test/support/events/channel-contract.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { delayedPort } from '../../../../test/support/upstream/delayed-port.ts';
import { resolveAddress } from '../broker/address.ts';
import { connectAmqp } from './connect-amqp.ts';

// Inside of before() it would go when that ends.
const folder = temporaryFolder({ after });
let server: Awaited<ReturnType<typeof startRabbitmq>>;

before(async () => {
  if (hasRabbitmq) server = await startRabbitmq(folder);
});
after(() => server?.stop());

describeChannel({
  name: 'amqp',
  skip: hasRabbitmq ? false : 'rabbitmq-server is not installed',
  durable: true,
  open: (t) =>
    openBrokerChannels(t, {
      scheme: 'amqp',
      url: server.url,
      async publishBytes(topic, bytes) {
        const connection = await connect(server.url);
        const channel = await connection.createConfirmChannel();
        channel.publish(topic, 'any', Buffer.from(bytes));
        await channel.waitForConfirms();
        await connection.close();
      },
    }),
});

describe('a channel on RabbitMQ', { skip: hasRabbitmq ? false : 'rabbitmq-server is not installed' }, () => {
  const lossless = { lost: 0, phantoms: 0, corrupt: 0 };
  const run = async (t: TestContext, topic: string, url: string, fault: () => Promise<void>) => {
    const dataDir = temporaryFolder(t);
    const report = await runQueueFaults({ scheme: 'amqp', url, topic, dataDir, events: 400, fault });
    t.diagnostic(JSON.stringify(report));
    const { corrupt, lost, phantoms } = report;
    assert.deepEqual({ lost, phantoms, corrupt }, lossless);
  };

  it('loses nothing when the network is slow and breaks', async (t) => {
    const network = await delayedPort(() => server.port, 50);
    t.after(() => network.close());
    await run(t, 'cut', `amqp://127.0.0.1:${network.port}`, async () => network.cut());
  });

  it('loses nothing when the server is killed and started again', (t) =>
    run(t, 'killed', server.url, async () => {
      await server.keeps('killed.reader');
      await server.kill();
      await server.start();
    }));

  it('tells other programs what an event is by the headers and properties of its message', async (t) => {
    const connection = await connect(server.url);
    t.after(() => connection.close());
    const address = resolveAddress(server.url, () => undefined);
    const channel = await connectAmqp(
      { address, topic: 'shown', instance: 'gateway', background: { run: (_, work) => work() } },
      () => {},
    );
    t.after(() => channel.close());
    await channel.subscribe('x', false);
    const attributes = { ...testEvent('1').attributes, count: 3, datacontenttype: 'text/plain' };
    await channel.publish({ attributes, data: Buffer.from('hello') });
    const reader = await connection.createChannel();
    const message = await reader.get('shown.x', { noAck: true });
    assert.ok(message !== false);
    const { contentType, deliveryMode, headers, messageId } = message.properties;
    assert.deepEqual(
      [String(message.content), contentType, deliveryMode, messageId, headers?.['cloudEvents_count']],
      ['hello', 'text/plain', 2, '1', 3],
    );
    assert.equal(message.fields.routingKey, 't');
  });
});
