import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createClient } from 'redis';
import type { Reply } from '../support/client.ts';
import { fleet } from '../support/fleet.ts';
import { chat } from '../support/formats.ts';
import { waitFor } from '../support/gateway.ts';
import { firstResult } from '../support/management.ts';
import { hasRedis, privateRedis } from '../support/redis.ts';
import { json, stall } from '../support/steps.ts';

/** Longer than an answer takes on a busy machine, and short beside what a request may take. */
const TIMEOUT_MS = 500;

describe('limits in a Redis that does not answer', { skip: !hasRedis }, () => {
  const redis = privateRedis();
  const at = fleet(1, { redis: { timeout_ms: TIMEOUT_MS } }, () => ({ REDIS_URL: redis.url }));
  const upstream = () => {
    const [found] = at.upstreams;
    assert.ok(found);
    return found;
  };
  const ask = () => at.gateway.ask(chat.path, chat.request({ model: 'openai-compatible-0/m-1' }));
  const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);
  const log = () => at.gateway.output().stderr;
  const limit = async (budget: object) => {
    const made = await at.manage('POST', '/api/budgets', budget);
    assert.equal(made.status, 200, made.text);
    return `/api/budgets/${String(firstResult(made)['id'])}`;
  };
  const level = async (budget: string) => {
    const { reserved, spent } = (await at.manage('GET', budget)).json();
    return [spent, reserved];
  };
  /** What Redis has counted of requests in a day, and what is set aside there. */
  const counted = async () => {
    const client = await createClient({ url: redis.url }).connect();
    const all = await client.hGetAll('{modelgate}:budget:global::requests:day');
    client.destroy();
    const sum = (kind: string) =>
      Object.entries(all).reduce(
        (total, [field, amount]) => total + (field.startsWith(kind) ? Number(amount) : 0),
        0,
      );
    return [sum('s:'), sum('h:')];
  };
  const check = async () => {
    const checks = (await at.manage('GET', '/api/services/data-plane')).text;
    return /"name":"shared limits","status":"(\w+)"/.exec(checks)?.[1] ?? checks;
  };
  before(() => at.connectAll('openai-compatible'));

  it('let requests pass soon, stop at the limit all the same, and tell Redis afterwards', async () => {
    upstream().respond(() => [json(200, chat.answer())]);
    const budget = await limit({ metric: 'requests', period: 'day', limit: 10 });
    assert.equal((await ask()).status, 200);
    assert.equal(await check(), 'pass');
    redis.pause();
    const begun = performance.now();
    const replies = [await ask(), ...(await Promise.all(Array.from({ length: 5 }, ask)))];
    assert.ok(performance.now() - begun < TIMEOUT_MS + 5_000, 'nobody waits for Redis twice');
    assert.deepEqual(
      statuses(replies),
      Array.from({ length: 6 }, () => 200),
    );
    assert.match(log(), /Redis is slow: requests are decided without it/);
    await waitFor('the check to warn', async () => (await check()) === 'warn');
    const more = await Promise.all(Array.from({ length: 8 }, ask));
    assert.deepEqual(
      [
        more.filter(({ status }) => status === 200).length,
        more.filter(({ status }) => status === 429).length,
      ],
      [3, 5],
    );
    assert.deepEqual(await level(budget), [10, 0]);
    redis.resume();
    await waitFor('Redis to be told', async () => `${await counted()}` === '10,0', 20_000);
    await waitFor('the service to be well', async () => (await check()) === 'pass', 20_000);
    assert.match(log(), /Redis answers in time again/);
    assert.deepEqual(await level(budget), [10, 0]);
    await at.manage('DELETE', budget);
  });

  it('hold nothing for ever of requests that were let in by Redis and end without it', async () => {
    const budget = await limit({ metric: 'concurrency', limit: 2 });
    const gate = Promise.withResolvers<void>();
    upstream().always(stall(gate.promise), json(200, chat.answer()));
    const open = [ask(), ask()];
    await upstream().request(1);
    assert.equal((await ask()).status, 429);
    redis.pause();
    gate.resolve();
    assert.deepEqual(statuses(await Promise.all(open)), [200, 200]);
    upstream().respond(() => [json(200, chat.answer())]);
    assert.equal((await ask()).status, 200, 'decided here');
    redis.resume();
    await waitFor('both places', async () => {
      const replies = await Promise.all([ask(), ask()]);
      return replies.every(({ status }) => status === 200);
    });
    await waitFor('nothing to be open', async () => `${await level(budget)}` === '0,0');
    await at.manage('DELETE', budget);
  });

  it('are counted from the ledger where Redis was lost with all it had', async () => {
    const budget = await limit({ metric: 'requests', period: 'day', limit: 1_000 });
    const sofar = Number((await level(budget))[0]);
    assert.ok(sofar > 0);
    assert.equal((await ask()).status, 200);
    await redis.kill();
    assert.deepEqual(statuses(await Promise.all([ask(), ask()])), [200, 200]);
    await waitFor('it to be noticed', async () => (await check()) === 'warn');
    await redis.start();
    await waitFor('Redis again', async () => (await check()) === 'pass', 20_000);
    assert.equal((await ask()).status, 200);
    await waitFor('Redis to be told', async () => `${await counted()}` === `${sofar + 4},0`, 20_000);
    assert.deepEqual(await level(budget), [sofar + 4, 0]);
  });

  it('do not keep the gateway from starting', async () => {
    redis.pause();
    await at.gateway.kill();
    await at.gateway.restart();
    assert.equal((await ask()).status, 200);
    await waitFor('the check to warn', async () => (await check()) === 'warn');
    redis.resume();
    await waitFor('Redis', async () => (await check()) === 'pass', 20_000);
    assert.equal((await ask()).status, 200);
  });
});
