import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chat, connectionsTo } from '../support/formats.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../support/gateway.ts';
import { hasRedis, privateRedis } from '../support/redis.ts';
import { hang, json } from '../support/steps.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

type Row = Record<string, unknown>;

describe('limits of two gateways', { skip: !hasRedis }, () => {
  const redis = privateRedis();
  const started: { one?: RunningGateway; two?: RunningGateway; upstream?: Upstream } = {};
  const at = () => {
    const { one, two, upstream } = started;
    assert.ok(one && two && upstream);
    return { one, two, upstream };
  };
  before(async () => {
    const upstream = await startUpstream();
    started.upstream = upstream;
    // No answer on a busy machine is too late, so that what is counted is the same every time.
    const options = {
      env: { REDIS_URL: redis.url },
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
  });

  const ask = (gateway: RunningGateway) => gateway.ask(chat.path, chat.request(), bearer(gateway.key));
  const budgets = async (gateway: RunningGateway) =>
    (await gateway.cliJson('budgets', 'list'))['budgets'] as Row[];
  const setBoth = async (...flags: string[]) => {
    const { one, two } = at();
    for (const gateway of [one, two]) await gateway.cliJson('budgets', 'set', ...flags);
  };
  const removeAll = async () => {
    const { one, two } = at();
    for (const gateway of [one, two])
      for (const { id } of await budgets(gateway))
        await gateway.cliJson('budgets', 'remove', String(id), '--yes');
  };

  it('hold for both together: of 60 requests at once against a limit of 25 exactly 25 are let through', async () => {
    const { one, two, upstream } = at();
    upstream.always(json(200, chat.answer()));
    await setBoth('--requests', '25', '--per', 'day');
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
    await removeAll();
  });

  it('free what a gateway held that was killed, and go on without Redis and with it again', async () => {
    const { one, two, upstream } = at();
    await setBoth('--concurrency', '1');
    upstream.always(hang());
    const held = ask(one).catch(() => null);
    await upstream.request(0);
    assert.equal((await ask(two)).status, 429, 'the place is taken over there');
    await redis.kill();
    upstream.script([json(200, chat.answer())]);
    await waitFor(
      'an answer without Redis',
      async () => {
        upstream.always(json(200, chat.answer()));
        return (await ask(two)).status === 200;
      },
      20_000,
    );
    assert.match(two.output().stderr + two.output().stdout, /Redis does not answer/);
    await redis.start();
    await waitFor(
      'Redis again',
      () => /Redis answers/.test(two.output().stderr + two.output().stdout),
      20_000,
    );
    assert.equal((await ask(two)).status, 200);
    await one.kill();
    await held;
    await one.restart();
    await removeAll();
  });
});
