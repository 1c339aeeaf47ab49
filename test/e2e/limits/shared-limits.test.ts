import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { chat, connectionsTo } from '../../support/formats/formats.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { hasRedis, privateRedis } from '../../support/servers/redis.ts';
import { type DelayedPort, delayedPort } from '../../support/upstream/delayed-port.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

type Row = Record<string, unknown>;

describe('limits of two gateways', { skip: !hasRedis }, () => {
  const redis = privateRedis();
  let delayed: DelayedPort | undefined;
  const started: { one?: RunningGateway; two?: RunningGateway; upstream?: Upstream } = {};
  const at = () => {
    const { one, two, upstream } = started;
    assert.ok(one && two && upstream);
    return { one, two, upstream };
  };
  before(async () => {
    const upstream = await startUpstream();
    started.upstream = upstream;
    delayed = await delayedPort(() => Number(new URL(redis.url).port));
    // No answer on a busy machine is too late, so that what is counted is the same every time.
    const options = {
      env: { REDIS_URL: `redis://127.0.0.1:${delayed.port}` },
      config: { redis: { timeout_ms: 10_000 } },
      connections: connectionsTo(upstream.url),
    };
    started.one = await startGateway(options);
    started.two = await startGateway(options);
  });
  after(async () => {
    await started.one?.stop();
    await started.two?.stop();
    await started.upstream?.close();
    await delayed?.close();
  });

  const ask = (gateway: RunningGateway) => gateway.ask(chat.path, chat.request(), bearer(gateway.key));
  const manage = async (gateway: RunningGateway, method: string, path: string, body?: object) => {
    const run = JSON.parse(await readFile(join(gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
    const headers = { host: `127.0.0.1:${gateway.port}`, 'x-auth-token': run.key };
    const reply = await gateway.send({
      method,
      path,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(reply.status < 300, reply.text);
    return reply;
  };
  const budgets = async (gateway: RunningGateway) =>
    (await manage(gateway, 'GET', '/api/budgets?expand=resources')).json()['resources'] as Row[];
  const setBoth = async (limit: number) => {
    const { one, two } = at();
    for (const gateway of [one, two]) {
      const [known] = await budgets(gateway);
      if (known === undefined)
        await manage(gateway, 'POST', '/api/budgets', { metric: 'requests', period: 'day', limit });
      else await manage(gateway, 'PATCH', `/api/budgets/${known['id']}`, { limit });
    }
  };
  it('hold for both together: of 60 requests at once against a limit of 25 exactly 25 are let through', async () => {
    const { one, two, upstream } = at();
    upstream.always(json(200, chat.answer()));
    await setBoth(25);
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) => ask(index % 2 === 0 ? one : two)),
    );
    assert.equal(replies.filter(({ status }) => status === 200).length, 25);
    assert.equal(replies.filter(({ status }) => status === 429).length, 35);
    assert.equal(upstream.requests.length, 25);
    for (const gateway of [one, two]) {
      await ask(gateway);
      const [row] = await budgets(gateway);
      assert.deepEqual([row?.['spent'], row?.['remaining']], [25, 0]);
    }
  });

  const spent = async (gateway: RunningGateway) => Number((await budgets(gateway))[0]?.['spent']);
  /** Sets a limit that leaves room for `more` requests beside those of earlier tests. @returns what was used before */
  const leaveRoom = async (more: number): Promise<number> => {
    const { one, two } = at();
    await setBoth(100_000);
    let used = 0;
    await waitFor('both to know what was used', async () => {
      used = await spent(one);
      return used === (await spent(two));
    });
    await setBoth(used + more);
    return used;
  };
  /** Asks both while there is trouble, and then until there is no room. In the trouble either may refuse for a while. */
  const hammer = async (trouble: () => Promise<void>): Promise<void> => {
    const { one, two } = at();
    let over = false;
    const worker = async (gateway: RunningGateway) => {
      for (let refused = 0; refused < 2; ) {
        const calm = over;
        const reply = await ask(gateway).catch(() => null);
        if (reply?.status === 429 && calm) refused += 1;
        else if (reply?.status !== 200) await delay(20);
      }
    };
    const workers = [one, two].flatMap((gateway) => Array.from({ length: 8 }, () => worker(gateway)));
    const ended = trouble().finally(() => {
      over = true;
    });
    await Promise.all([...workers, ended]);
  };
  const seen = async (count: number) =>
    waitFor(`${count} requests`, () => at().upstream.requests.length >= count);

  for (const [name, trouble] of [
    [
      'a Redis that answers after 5 ms, and now and then after 300 ms',
      async () => {
        assert.ok(delayed);
        delayed.delayMs = 5;
        await seen(20);
        delayed.delayMs = 300;
        await seen(40);
        delayed.delayMs = 5;
      },
    ],
    [
      'connections to Redis that break',
      async () => {
        for (const count of [10, 20, 30, 40]) {
          await seen(count);
          delayed?.cut();
        }
      },
    ],
    [
      'a Redis that loses all it had, twice',
      async () => {
        const client = await createClient({ url: redis.url }).connect();
        for (const count of [10, 40]) {
          await seen(count);
          await client.flushAll();
        }
        client.destroy();
      },
    ],
    [
      'a gateway that is killed and starts again',
      async () => {
        await seen(30);
        await at().one.kill();
        await at().one.restart();
      },
    ],
    [
      'a gateway that is killed, and a Redis that then loses all it had',
      async () => {
        const client = await createClient({ url: redis.url }).connect();
        await seen(30);
        await at().one.kill();
        await client.flushAll();
        client.destroy();
        await at().one.restart();
      },
    ],
  ] as const) {
    it(`let at most 60 of any number through with ${name}`, async () => {
      const { one, two, upstream } = at();
      await leaveRoom(60);
      upstream.always(json(200, chat.answer()));
      await hammer(trouble);
      // What was refused in the trouble alone is asked for now.
      await waitFor('the limit to be reached', async () => {
        const replies = await Promise.all([ask(one), ask(two)]);
        return replies.every(({ status }) => status === 429);
      });
      const count = upstream.requests.length;
      assert.ok(count <= 60, `${count} of 60 were let through`);
      assert.ok(count > 30, `${count} of 60 were let through`);
      if (delayed) delayed.delayMs = 0;
    });
  }

  it('continue with their leases while Redis is away, then refuse, and count on when it is back', async () => {
    const { one, two, upstream } = at();
    const before = await leaveRoom(1000);
    upstream.always(json(200, chat.answer()));
    for (let index = 0; index < 20; index += 1) assert.equal((await ask(one)).status, 200);
    await redis.kill();
    await waitFor('a refusal', async () => (await ask(one)).status === 503);
    const reply = await ask(one);
    assert.equal(reply.header('retry-after'), '5');
    assert.match(reply.text, /is shared with other gateways through Redis, which does not answer/);
    assert.match(one.output().stderr, /Redis does not answer/);
    await redis.start();
    await waitFor('Redis again', async () => (await ask(one)).status === 200);
    await waitFor('Redis there too', async () => (await ask(two)).status === 200);
    await waitFor('what both have used', async () => {
      const used = before + upstream.requests.length;
      return (await spent(one)) === used && (await spent(two)) === used;
    });
  });
});
