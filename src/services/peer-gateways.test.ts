import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '@redis/client';
import { waitFor } from '../../test/support/gateway/gateway.ts';
import { hasRedis, privateRedis } from '../../test/support/servers/redis.ts';
import type { HealthHint } from '../health/hints.ts';
import { createSchedule } from '../lib/time/schedule.ts';
import { openPeerGateways } from './peer-gateways.ts';

const hint: HealthHint = {
  connectionId: 'con_1',
  model: 'm-1',
  state: 'cooling',
  reason: 'rate limit',
  failures: 1,
  forMs: 1_000,
  told: true,
};

describe('gateways that share a database and a Redis', { skip: !hasRedis }, () => {
  const redis = privateRedis();

  async function join(t: TestContext, node: string, group = 'one') {
    const received = {
      revisions: [] as (number | null)[],
      rows: [] as object[],
      hints: [] as HealthHint[],
      watching: false,
    };
    const peers = await openPeerGateways({
      url: redis.url,
      node,
      group,
      schedule: createSchedule(),
      steady: () => performance.now(),
      watching: () => received.watching,
      onSettings: (revision) => void received.revisions.push(revision),
      onRequest: (row) => void received.rows.push(row),
      onAccount: (one) => void received.hints.push(one),
    });
    t.after(peers.close);
    await waitFor(`${node} to listen`, () => received.revisions.length > 0);
    return { received, peers };
  }

  it('receive changes of settings and accounts, but not their own', async (t) => {
    const [one, other] = [await join(t, 'node_a'), await join(t, 'node_b')];
    const stranger = await join(t, 'node_c', 'another database');
    const client = await createClient({ url: redis.url }).connect();
    t.after(() => client.destroy());
    for (const text of ['no JSON', '{"from":"x","kind":"account","hint":{}}', '{"from":"x","kind":"later"}'])
      await client.publish('{modelgate}:neighbours:one', text);
    await waitFor('a message', () => {
      one.peers.settingsChanged(7);
      return other.received.revisions.includes(7);
    });
    one.peers.accountChanged(hint);
    await waitFor('the hint', () => other.received.hints.length > 0);
    assert.deepEqual(other.received.hints, [hint]);
    assert.deepEqual(
      [one.received.revisions, one.received.hints, stranger.received.revisions],
      [[null], [], [null]],
    );
  });

  it('receive requests while somebody watches, with the gateway that served them', async (t) => {
    const [one, other] = [await join(t, 'node_a'), await join(t, 'node_b')];
    let made = 0;
    const end = () =>
      one.peers.requestEnded(() => {
        made += 1;
        return { id: `req_${made}` };
      });
    end();
    assert.equal(made, 0, 'nobody watches');
    other.received.watching = true;
    await waitFor('a request', () => {
      end();
      return other.received.rows.length > 0;
    });
    assert.deepEqual(other.received.rows[0], { id: 'req_1', node: 'node_a' });
    for (let index = 0; index < 1_000; index += 1) end();
    assert.ok(made < 700, `${made} rows of a thousand were made: the others are left out`);
  });

  it('catch up when Redis is back', async (t) => {
    const { received } = await join(t, 'node_a');
    const before = received.revisions.length;
    await redis.kill();
    await redis.start();
    await waitFor('another look', () => received.revisions.length > before);
    assert.equal(received.revisions.at(-1), null);
  });
});
