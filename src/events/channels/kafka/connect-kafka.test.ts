import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Kafka, logLevel } from 'kafkajs';
import { hasKafka, type KafkaMock, startKafka } from '../../../../test/support/brokers/kafka.ts';
import { openBrokerChannels } from '../../../../test/support/events/broker-channel.ts';
import { describeChannel } from '../../../../test/support/events/channel-contract.ts';
import { checkChannelUrl } from '../../config/channel-url.ts';

let server: KafkaMock;

before(async () => {
  if (hasKafka) server = await startKafka();
});
after(() => server?.kill());

describeChannel({
  name: 'kafka',
  skip: hasKafka ? false : 'kcat is not installed',
  // The mock keeps everything in memory, but it is not what restarts.
  durable: true,
  settlesInOrder: true,
  orderedBySource: true,
  // Kafka waits three seconds whether more members join a group.
  concurrency: 8,
  open: (t) =>
    openBrokerChannels(t, {
      scheme: 'kafka',
      url: `${server.url}?partition_by=source`,
      async publishBytes(topic, bytes) {
        const brokers = server.url.slice('kafka://'.length).split(',');
        const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
        await producer.connect();
        await producer.send({ topic, messages: [{ value: Buffer.from(bytes) }] });
        await producer.disconnect();
      },
    }),
});

it('has an address that a configuration takes, with every parameter', () => {
  const login = `user:\${PASSWORD}@one:9092,two`;
  const url = `kafka://${login}?tls=true&mechanism=scram-sha-512&partition_by=source`;
  assert.deepEqual(checkChannelUrl(url), { ok: true, scheme: 'kafka' });
});
