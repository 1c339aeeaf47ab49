import { after, before } from 'node:test';
import { createClient } from '@redis/client';
import { openBrokerChannels } from '../../../../test/support/broker-channel.ts';
import { hasRedis, startRedis } from '../../../../test/support/brokers/redis.ts';
import type { PrivateBroker } from '../../../../test/support/brokers/server-process.ts';
import { describeChannel } from '../../../../test/support/channel-contract.ts';
import { guarantees } from '../../../../test/support/channel-guarantees.ts';
import { temporaryFolder } from '../../../../test/support/folder.ts';

const folder = temporaryFolder({ after });
let server: PrivateBroker;

before(async () => {
  if (hasRedis) server = await startRedis(folder);
});
after(() => server?.kill());

describeChannel({
  name: 'redis',
  skip: hasRedis ? false : 'redis-server is not installed',
  durable: guarantees.redis.survivesGateway,
  open: (t) =>
    openBrokerChannels(t, {
      scheme: 'redis',
      url: server.url,
      async publishBytes(topic, bytes) {
        const client = await createClient({ url: server.url }).connect();
        await client.xAdd(topic, '*', {
          event: Buffer.from(bytes),
          'content-type': 'application/cloudevents+json',
        });
        client.destroy();
      },
    }),
});
