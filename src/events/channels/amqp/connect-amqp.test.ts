import { after, before } from 'node:test';
import { connect } from 'amqplib';
import { openBrokerChannels } from '../../../../test/support/broker-channel.ts';
import { hasRabbitmq, startRabbitmq } from '../../../../test/support/brokers/rabbitmq.ts';
import { describeChannel } from '../../../../test/support/channel-contract.ts';
import { temporaryFolder } from '../../../../test/support/folder.ts';

let server: Awaited<ReturnType<typeof startRabbitmq>>;

before(async () => {
  if (hasRabbitmq) server = await startRabbitmq(temporaryFolder({ after }));
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
