import { after, before } from 'node:test';
import { hasMosquitto, startMosquitto } from '../../../../test/support/brokers/mosquitto.ts';
import { openBrokerChannels } from '../../../../test/support/events/broker-channel.ts';
import { describeChannel } from '../../../../test/support/events/channel-contract.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { openMqtt } from './connection.ts';

/** A client of version 3.1.1 cannot tell how many messages it takes at a time: 20, unless the server is told. */
const settings = ['max_inflight_messages 0', 'max_queued_messages 0'];

// Inside of before() it would go when that ends.
const folder = temporaryFolder({ after });
let server: Awaited<ReturnType<typeof startMosquitto>>;

before(async () => {
  if (hasMosquitto) server = await startMosquitto(folder, settings);
});
after(() => server?.stop());

for (const [version, parameters] of [
  [5, ''],
  [4, '?version=3.1.1'],
] as const)
  describeChannel({
    name: `mqtt${parameters}`,
    skip: hasMosquitto ? false : 'mosquitto is not installed',
    durable: true,
    structured: version === 4,
    settlesInOrder: true,
    keepsUnclaimed: false,
    open: (t) =>
      openBrokerChannels(t, {
        scheme: 'mqtt',
        url: `${server.url}${parameters}`,
        async publishBytes(topic, bytes) {
          const { hostname: host, port } = new URL(server.url);
          const connection = await openMqtt({
            server: { host, port: Number(port), tls: false, username: '', password: '' },
            version,
            clientId: 'other',
            persistent: false,
            receiveMaximum: 1,
            onMessage: () => {},
            onClose: () => {},
          });
          await connection.publish(topic, bytes, undefined);
          connection.close();
        },
      }),
  });
