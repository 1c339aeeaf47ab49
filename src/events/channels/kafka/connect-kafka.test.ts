import { after, before } from 'node:test';
import { Kafka, logLevel } from 'kafkajs';
import { openBrokerChannels } from '../../../../test/support/broker-channel.ts';
import { hasKafka, type KafkaMock, startKafka } from '../../../../test/support/brokers/kafka.ts';
import { describeChannel } from '../../../../test/support/channel-contract.ts';

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
      url: `${server.url}?key=source`,
      async publishBytes(topic, bytes) {
        const brokers = server.url.slice('kafka://'.length).split(',');
        const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
        await producer.connect();
        await producer.send({ topic, messages: [{ value: Buffer.from(bytes) }] });
        await producer.disconnect();
      },
    }),
});
