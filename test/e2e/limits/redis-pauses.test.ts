import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { chat } from '../../support/formats/formats.ts';
import { fleet } from '../../support/gateway/fleet.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { firstResult } from '../../support/management/management.ts';
import { countedInRedis, hasRedis, privateRedis } from '../../support/servers/redis.ts';
import { json, stall } from '../../support/upstream/steps.ts';

/** Milliseconds that something takes, and what it comes to. */
async function timed<T>(work: () => Promise<T>): Promise<[ms: number, result: T]> {
  const begun = performance.now();
  const result = await work();
  return [performance.now() - begun, result];
}

/** Longer than an answer takes on a busy machine, and short beside what a request may take. */
const TIMEOUT_MS = 2_000;

describe('limits in a Redis that does not answer', { skip: !hasRedis }, () => {
  const redis = privateRedis();
  const settings = { timeout_ms: TIMEOUT_MS, failure_mode: 'local' };
  const at = fleet(1, { config: { redis: settings }, env: () => ({ REDIS_URL: redis.url }) });
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
  const counted = () => countedInRedis(redis.url, 'global::requests:day');
  const check = async () => {
    const checks = (await at.manage('GET', '/api/services/data-plane')).text;
    return /"name":"shared limits","status":"(\w+)"/.exec(checks)?.[1] ?? checks;
  };
  before(() => at.connectAll('openai-compatible'));

  it('let requests pass soon, still stop at the limit, and report to Redis afterwards', async () => {
    upstream().respond(() => [json(200, chat.answer())]);
    const budget = await limit({ metric: 'requests', period: 'day', limit: 15 });
    const batch = () => Promise.all(Array.from({ length: 5 }, ask));
    assert.equal((await ask()).status, 200);
    const [usualMs] = await timed(batch);
    assert.equal(await check(), 'pass');
    redis.pause();
    const [ms, replies] = await timed(async () => [await ask(), ...(await batch())]);
    assert.ok(ms < TIMEOUT_MS + Math.max(TIMEOUT_MS, 20 * usualMs), `${ms} ms: nobody waits for Redis twice`);
    assert.deepEqual(
      statuses(replies),
      Array.from({ length: 6 }, () => 200),
    );
    assert.match(log(), /Redis is slow: budgets are limited to what was granted before/);
    await waitFor('the check to warn', async () => (await check()) === 'warn');
    const more = await Promise.all(Array.from({ length: 8 }, ask));
    assert.deepEqual(
      [
        more.filter(({ status }) => status === 200).length,
        more.filter(({ status }) => status === 429).length,
      ],
      [3, 5],
    );
    assert.deepEqual(await level(budget), [15, 0]);
    redis.resume();
    await waitFor('Redis to be told', async () => `${await counted()}` === '15,0');
    await waitFor('the service to be well', async () => (await check()) === 'pass');
    assert.match(log(), /Redis answers in time: budgets are shared again/);
    assert.deepEqual(await level(budget), [15, 0]);
    await at.manage('DELETE', budget);
  });

  it('release reservations of requests that were admitted by Redis and end without it', async () => {
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
    await waitFor('Redis again', async () => (await check()) === 'pass');
    assert.equal((await ask()).status, 200);
    await waitFor('Redis to be told', async () => (await counted())[0] === sofar + 4);
    assert.deepEqual(await level(budget), [sofar + 4, 0]);
  });

  it('do not keep the gateway from starting', async () => {
    redis.pause();
    await at.gateway.kill();
    await at.gateway.restart();
    assert.equal((await ask()).status, 200);
    await waitFor('the check to warn', async () => (await check()) === 'warn');
    redis.resume();
    await waitFor('Redis', async () => (await check()) === 'pass');
    assert.equal((await ask()).status, 200);
  });
});
