import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createClient } from '@redis/client';
import { hasRedis, startRedis } from '../../../../test/support/brokers/redis.ts';
import type { PrivateBroker } from '../../../../test/support/brokers/server-process.ts';
import { openBrokerChannels } from '../../../../test/support/events/broker-channel.ts';
import { describeChannel, receiveSome, testEvent } from '../../../../test/support/events/channel-contract.ts';
import { guarantees } from '../../../../test/support/events/channel-guarantees.ts';
import { waitFor } from '../../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { delayedPort } from '../../../../test/support/upstream/delayed-port.ts';

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

/** What is told of a channel on a server with these settings, or by a user with fewer rights, once it is connected. */
async function connected(t: TestContext, settings: readonly string[]) {
  const own = await startRedis(temporaryFolder(t), settings);
  t.after(() => own.kill());
  const client = await createClient({ url: own.url })
    .on('error', () => {})
    .connect();
  t.after(() => client.destroy());
  return {
    client,
    async open() {
      const { channel } = await openBrokerChannels(t, { scheme: 'redis', url: own.url });
      await channel.subscribe('x');
      return channel;
    },
  };
}

describe('a channel on Redis', { skip: hasRedis ? false : 'redis-server is not installed' }, () => {
  const settings: Readonly<Record<string, { args: readonly string[]; warnings: readonly RegExp[] }>> = {
    'nothing where each write is synced': { args: [], warnings: [] },
    'that events of the last seconds are lost by appendfsync everysec': {
      args: ['--appendfsync', 'everysec'],
      warnings: [/appendfsync everysec.*Set appendfsync to always/],
    },
    'that nothing is kept without an append-only file, and that a full memory deletes streams': {
      args: ['--appendonly', 'no', '--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
      warnings: [/Set appendonly to yes/, /Set maxmemory-policy to noeviction/],
    },
  };
  for (const [name, { args, warnings }] of Object.entries(settings))
    it(`reports ${name}`, async (t) => {
      const { open } = await connected(t, args);
      const told = (await open()).warnings();
      assert.equal(told.length, warnings.length, told.join('\n'));
      for (const [index, pattern] of warnings.entries()) assert.match(told[index] ?? '', pattern);
    });

  it('is degraded when it may not settle messages, and reports that it cannot read the settings', async (t) => {
    const { client, open } = await connected(t, []);
    await client.aclSetUser('default', ['-xack', '-config']);
    const channel = await open();
    assert.match(channel.warnings().join('\n'), /^Redis does not tell its settings/);
    const settleOne = async (id: string) => {
      await channel.publish(testEvent(id));
      const [delivery] = await receiveSome(channel, 'x', 1);
      await channel.ack('x', delivery?.id ?? '');
    };
    await settleOne('1');
    assert.match(channel.degradations().join('\n'), /^The message queue keeps messages that are handled/);
    await client.aclSetUser('default', '+xack');
    await settleOne('2');
    await waitFor('the end of the failure', () => channel.degradations().length === 0);
  });

  it('takes over the messages of a dead gateway after its own first connection was lost silently', async (t) => {
    const port = await delayedPort(() => server.port);
    t.after(port.close);
    let topic = '';
    const onTopic = (name: string) => {
      topic = name;
    };
    const { channel: taker } = await openBrokerChannels(
      t,
      { scheme: 'redis', url: server.url.replace(`:${server.port}`, `:${port.port}`) },
      undefined,
      onTopic,
    );
    await taker.subscribe('x');
    await taker.publish(testEvent('1'));
    const [first] = await receiveSome(taker, 'x', 1);
    await taker.ack('x', first?.id ?? '');
    // That of the consumer, which waits for new messages, is the last one.
    port.silence(1);
    const client = await createClient({ url: server.url }).connect();
    t.after(() => client.destroy());
    // At once, so that the taker does not get it.
    await client
      .multi()
      .xAdd(topic, '*', { data: '{}', 'content-type': 'text/plain' })
      .xReadGroup('modelgate:x', 'dead', { key: topic, id: '>' })
      .exec();
    await receiveSome(taker, 'x', 1);
  });
});
