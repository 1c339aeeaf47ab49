import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { createClient } from '@redis/client';
import { hasNats, startNats } from '../../../test/support/brokers/nats.ts';
import { hasRedis, startRedis } from '../../../test/support/brokers/redis.ts';
import { openBrokerChannels } from '../../../test/support/events/broker-channel.ts';
import { testEvent } from '../../../test/support/events/channel-contract.ts';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { createLog } from '../../lib/log.ts';
import type { EventName } from '../types/catalogue.ts';
import type { Occurrence } from '../types/emitter.ts';
import { createBackgroundTasks } from './background-tasks.ts';

/** What whoever runs the gateway is told. */
function listener() {
  const events: string[] = [];
  const warnings: string[] = [];
  const emitter = {
    wants: () => true,
    emit<Name extends EventName>(name: Name, { subject }: Occurrence<Name>) {
      events.push(`${name} ${subject?.replace(/^a-.*/, 'a')}`);
    },
  };
  const write = (line: string) => {
    if (line.includes('"warn"')) warnings.push(String(JSON.parse(line)['msg']));
  };
  const log = createLog({ level: 'info', write, pretty: false });
  return { events, warnings, told: { emitter, log } };
}

describe('background tasks of a channel', () => {
  const failure = async () => {
    throw new Error('no permission');
  };

  it('are reported once when they fail, and once when they work again', async () => {
    const { events, told, warnings } = listener();
    const tasks = createBackgroundTasks({
      channelId: 'main',
      isConnected: () => true,
      textOf: (error) => (error instanceof Error ? error.message : ''),
      ...told,
    });
    assert.equal(await tasks.run('delete-handled', async () => 1), 1);
    for (let times = 0; times < 3; times += 1) assert.equal(await tasks.run('delete-handled', failure), null);
    await tasks.run('renew-leases', failure);
    assert.deepEqual(
      tasks.problems().map((text) => text.replace(/.*: /, '')),
      ['no permission', 'no permission'],
    );
    for (let times = 0; times < 2; times += 1) await tasks.run('delete-handled', async () => 1);
    assert.equal(tasks.problems().length, 1);
    assert.deepEqual(events, ['channel.degraded main', 'channel.degraded main', 'channel.recovered main']);
    assert.equal(warnings.length, 2);
  });

  it('report nothing when they fail because the connection is lost', async () => {
    const { events, told } = listener();
    const connection = { lost: false };
    const isConnected = () => !connection.lost;
    const tasks = createBackgroundTasks({ channelId: 'main', isConnected, textOf: String, ...told });
    const failing = tasks.run('delete-handled', failure);
    connection.lost = true;
    await failing;
    assert.deepEqual([tasks.problems(), events], [[], []]);
  });
});

/** Brings handled messages into a topic, and lets deleting them fail, by `spoil`, until `mend`. */
async function runTrimming(
  t: TestContext,
  broker: { readonly scheme: 'redis' | 'nats'; readonly url: string },
  faults: (topic: string) => { spoil(): Promise<unknown>; mend(): Promise<unknown> },
): Promise<void> {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { events, told, warnings } = listener();
  const topics: string[] = [];
  const channels = await openBrokerChannels(t, broker, told, (topic) => topics.push(topic));
  const { channel } = channels;
  await channel.subscribe('x');
  await channel.publish(testEvent('1'));
  assert.deepEqual(channel.degradations(), []);
  const { mend, spoil } = faults(topics[0] ?? '');
  await spoil();
  await waitFor('the failure', () => {
    t.mock.timers.tick(30_000);
    return channel.degradations().length > 0;
  });
  assert.match(channel.degradations()[0] ?? '', /^Messages that every trigger has handled are not deleted/);
  assert.equal(channel.problem(), null);
  await mend();
  await waitFor('the end of the failure', () => {
    t.mock.timers.tick(30_000);
    return channel.degradations().length === 0;
  });
  assert.deepEqual(
    events.filter((event) => event.endsWith(' a')),
    ['channel.degraded a', 'channel.recovered a'],
  );
  assert.ok(warnings.includes('a background task of a channel fails'));
}

describe('a channel whose handled messages cannot be deleted', () => {
  it('is degraded on Redis', { skip: !hasRedis }, async (t) => {
    const server = await startRedis(temporaryFolder(t));
    t.after(() => server.kill());
    const client = await createClient({ url: server.url })
      .on('error', () => {})
      .connect();
    t.after(() => client.destroy());
    await runTrimming(t, { scheme: 'redis', url: server.url }, () => ({
      spoil: () => client.aclSetUser('default', '-xtrim'),
      mend: () => client.aclSetUser('default', '+xtrim'),
    }));
  });

  it('is degraded on NATS', { skip: !hasNats }, async (t) => {
    const server = await startNats(temporaryFolder(t));
    t.after(() => server.kill());
    const connection = await connect({ servers: server.url });
    t.after(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    await runTrimming(t, { scheme: 'nats', url: server.url }, (topic) => ({
      spoil: async () => streams.delete(await streams.find(topic)),
      mend: () => streams.add({ name: `modelgate_${topic}`, subjects: [topic] }),
    }));
  });
});
