import { after, before } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { openBrokerChannels } from '../../../../test/support/broker-channel.ts';
import { hasNats, startNats } from '../../../../test/support/brokers/nats.ts';
import type { PrivateBroker } from '../../../../test/support/brokers/server-process.ts';
import { describeChannel } from '../../../../test/support/channel-contract.ts';
import { guarantees } from '../../../../test/support/channel-guarantees.ts';
import { temporaryFolder } from '../../../../test/support/folder.ts';

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
