import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { createClient } from '@redis/client';
import type { RuntimeStrategy } from '../../src/events/config/config.ts';
import { openGates } from '../../src/events/strategies/open.ts';
import { hasRedis, startRedis } from '../support/brokers/redis.ts';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { noStrategy } from '../support/events/event-trigger.ts';
import type { LimitedProcess } from '../support/events/limited-process.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

/** Limits of MODE_GLOBAL, held by three processes together. */

describe('a global limit', { skip: !hasRedis && 'there is no redis-server' }, () => {
  const folder = temporaryFolder({ after });
  let redis: PrivateBroker;
  let client: Awaited<ReturnType<typeof connect>>;
  const connect = () =>
    createClient({ url: redis.url })
      .on('error', () => {})
      .connect();
  const started = new Set<{ stop(): Promise<void> }>();

  before(async () => {
    redis = await startRedis(folder);
    client = await connect();
  });
  after(async () => {
    await Promise.all([...started].map((one) => one.stop()));
    client?.destroy();
    await redis?.kill();
  });

  function start(input: Omit<LimitedProcess, 'url'>) {
    const program: LimitedProcess = { ...input, url: redis.url };
    const child = spawn(
      process.execPath,
      [`${import.meta.dirname}/../support/events/limited-process.ts`, JSON.stringify(program)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const exited = once(child, 'exit');
    const one = {
      passed: 0,
      async stop() {
        child.kill('SIGKILL');
        await exited;
        started.delete(one);
      },
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      one.passed += text.split('\n').length - 1;
    });
    started.add(one);
    return one;
  }
  const rate = (name: string, threshold: number, periodMs: number): RuntimeStrategy['rateLimit'] => ({
    name,
    scope: 'global',
    threshold,
    periodMs,
  });
  const atOnce = (name: string, max: number): RuntimeStrategy['concurrency'] => ({
    name,
    scope: 'global',
    max,
  });
  const keyOf = (kind: 'calls' | 'permits', name: string) =>
    `{modelgate}:events:${kind}:${JSON.stringify([name, 'trigger:t'])}`;

  it('lets no more calls pass than its threshold, in any window, from all processes together', async () => {
    const [threshold, periodMs] = [20, 300];
    const program = {
      runtime: { rateLimit: rate('r', threshold, periodMs) },
      permitMs: 1_000,
      callers: 30,
      callMs: 0,
    };
    const processes = [1, 2, 3].map(() => start(program));
    /** Every call that was counted, by its id, with the time that Redis gave it in microseconds. */
    const calls = new Map<string, number>();
    await waitFor('calls of all', async () => {
      for (const { score, value } of await client.zRangeWithScores(keyOf('calls', 'r'), 0, -1))
        calls.set(value, score);
      return calls.size >= 160 && processes.every(({ passed }) => passed > 0);
    });
    await Promise.all(processes.map((one) => one.stop()));
    const times = [...calls.values()].sort((a, b) => a - b);
    for (const [index, at] of times.entries()) {
      const other = times[index + threshold];
      assert.ok(
        other === undefined || other - at >= periodMs * 1_000,
        `${threshold} + 1 calls in ${other} - ${at}`,
      );
    }
  });

  it('lets no more calls be in progress than its maximum, and recovers the permits of a killed process', async () => {
    const runtime = { concurrency: atOnce('c', 2) };
    const holder = start({ runtime, permitMs: 1_000, callers: 5, callMs: null });
    await waitFor('both permits', () => holder.passed === 2);
    const others = [1, 2].map(() => start({ runtime, permitMs: 1_000, callers: 5, callMs: 20 }));
    const key = keyOf('permits', 'c');
    let most = 0;
    // Renewed for longer than they last.
    const until = performance.now() + 2_500;
    await waitFor('renewed permits', async () => {
      most = Math.max(most, await client.zCard(key));
      return performance.now() > until;
    });
    assert.deepEqual(
      others.map(({ passed }) => passed),
      [0, 0],
    );
    await holder.stop();
    await waitFor('the permits of the killed process', async () => {
      most = Math.max(most, await client.zCard(key));
      return others.every(({ passed }) => passed > 5);
    });
    await Promise.all(others.map((one) => one.stop()));
    assert.equal(most, 2);
  });

  it('is split between the gateways while Redis does not answer, and shared again afterwards', async () => {
    const logged: string[] = [];
    const open = () =>
      openGates({
        redis: { url: redis.url, timeoutMs: 60_000 },
        log: {
          info: (_: unknown, text?: string) => void logged.push(`info ${text}`),
          warn: (_: unknown, text?: string) => void logged.push(`warn ${text}`),
        } as Parameters<typeof openGates>[0]['log'],
        onBreaker() {},
      });
    const all = [open(), open(), open()];
    for (const gates of all)
      gates.apply({
        sources: new Map(),
        triggers: new Map([
          [
            't',
            {
              id: 't',
              processor: { kind: 'log', name: '' },
              bufferSize: 1,
              idempotent: false,
              runtime: { ...noStrategy, concurrency: atOnce('o', 6) },
              deadLetters: null,
            },
          ],
        ]),
      });
    const admit = async () => await Promise.all(all.map((gates) => gates.of('trigger:t').admit()));
    const kinds = async () => (await admit()).map(({ kind }) => kind);
    // So that each has heard of the others.
    for (const admission of [...(await admit()), ...(await admit())])
      if (admission.kind === 'admitted') admission.done('ok', 1);
    await redis.kill();
    const gate = all[0]?.of('trigger:t');
    await waitFor('the outage', async () => {
      const admission = await gate?.admit();
      if (admission?.kind === 'admitted') admission.done('ok', 1);
      const [limit] = gate?.status().limits ?? [];
      return limit?.kind === 'concurrency-limit' && limit.scope === 'fallback';
    });
    assert.deepEqual(await kinds(), ['admitted', 'admitted', 'admitted']);
    assert.deepEqual(await kinds(), ['admitted', 'admitted', 'admitted']);
    assert.deepEqual(await kinds(), ['refused', 'refused', 'refused']);
    const first = logged.filter((line) => line.startsWith('warn'));
    assert.equal(new Set(first).size, 1);
    assert.ok(first.length <= 3, `${first.length} lines of 3 gateways`);
    await redis.start();
    await waitFor('the limit to be shared again', async () => {
      const admission = await gate?.admit();
      if (admission?.kind === 'admitted') admission.done('ok', 1);
      const [limit] = gate?.status().limits ?? [];
      return limit?.kind === 'concurrency-limit' && limit.scope === 'global';
    });
    await Promise.all(all.map((gates) => gates.disconnect()));
  });
});
