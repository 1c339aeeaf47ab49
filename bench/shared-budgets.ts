/**
 * How many requests gateways let through that share one budget in Redis, and how many they serve a second.
 *   node bench/shared-budgets.ts [--limit N] [--requests N] [--rounds N] [--json]
 * Each round starts gateways, Redis and an upstream of its own, and asks for more than the budget allows. Redis answers
 * through a port that holds every command back for the latency under test.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { chat } from '../test/support/formats/formats.ts';
import { type RunningGateway, startGateway } from '../test/support/gateway/gateway.ts';
import { type DelayedPort, delayedPort } from '../test/support/upstream/delayed-port.ts';
import { json } from '../test/support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../test/support/upstream/upstream.ts';

const flags = parseArgs({
  options: {
    limit: { type: 'string', default: '100' },
    requests: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    json: { type: 'boolean', default: false },
  },
}).values;

/** Requests of one gateway at the same time. */
const CONCURRENCY = 32;

interface Overspend {
  gateways: number;
  latency_ms: number;
  limit: number;
  admitted: number[];
}

interface Throughput {
  redis: boolean;
  latency_ms: number;
  requests_per_second: number;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

async function withRedis<T>(latencyMs: number, run: (port: DelayedPort) => Promise<T>): Promise<T> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(server, 'exit');
  for await (const text of server.stdout) if (String(text).includes('Ready to accept')) break;
  const delayed = await delayedPort(() => port, latencyMs);
  try {
    return await run(delayed);
  } finally {
    await delayed.close();
    server.kill('SIGKILL');
    await exited;
  }
}

async function withUpstream<T>(run: (upstream: Upstream) => Promise<T>): Promise<T> {
  const upstream = await startUpstream();
  upstream.always(json(200, chat.answer()));
  try {
    return await run(upstream);
  } finally {
    await upstream.close();
  }
}

function start(upstream: Upstream, redis: DelayedPort | null): Promise<RunningGateway> {
  return startGateway({
    env: redis === null ? {} : { REDIS_URL: `redis://127.0.0.1:${redis.port}` },
    connections: [{ provider: 'openai-compatible', name: 'up', baseUrl: upstream.url }],
  });
}

/** Asks `total` times, `CONCURRENCY` at a time; how many were let through. */
async function hammer(gateway: RunningGateway, total: number): Promise<number> {
  let [left, admitted] = [total, 0];
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      if ((await gateway.ask(chat.path, chat.request())).status === 200) admitted += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return admitted;
}

function overspend(gateways: number, latencyMs: number): Promise<number> {
  return withUpstream((upstream) =>
    withRedis(latencyMs, async (redis) => {
      const started = await Promise.all(Array.from({ length: gateways }, () => start(upstream, redis)));
      for (const gateway of started)
        await gateway.cliJson('budgets', 'set', '--requests', flags.limit, '--per', 'day');
      // Every gateway has to know of the budget before it counts.
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      const counts = await Promise.all(started.map((gateway) => hammer(gateway, Number(flags.requests))));
      for (const gateway of started) await gateway.stop();
      return counts.reduce((sum, count) => sum + count, 0);
    }),
  );
}

function throughput(redis: boolean, latencyMs: number): Promise<number> {
  return withUpstream((upstream) =>
    withRedis(latencyMs, async (port) => {
      const gateway = await start(upstream, redis ? port : null);
      await gateway.cliJson('budgets', 'set', '--requests', '1000000', '--per', 'day');
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      await hammer(gateway, 500);
      const [begun, length] = [performance.now(), Number(flags.seconds) * 1000];
      let served = 0;
      const worker = async () => {
        while (performance.now() < begun + length) {
          await gateway.ask(chat.path, chat.request());
          served += 1;
        }
      };
      await Promise.all(Array.from({ length: 16 }, worker));
      const rate = Math.round(served / ((performance.now() - begun) / 1000));
      await gateway.stop();
      return rate;
    }),
  );
}

const report: { overspend: Overspend[]; throughput: Throughput[] } = { overspend: [], throughput: [] };
for (const [gateways, latencyMs] of [
  [1, 0],
  [1, 1],
  [1, 5],
  [2, 0],
  [2, 1],
  [2, 5],
  [2, 50],
] as const) {
  const admitted: number[] = [];
  for (let round = 0; round < Number(flags.rounds); round += 1)
    admitted.push(await overspend(gateways, latencyMs));
  report.overspend.push({ gateways, latency_ms: latencyMs, limit: Number(flags.limit), admitted });
  if (!flags.json)
    process.stdout.write(
      `${gateways} gateway(s), Redis ${latencyMs} ms away: ${admitted.join(', ')} of ${flags.limit} admitted\n`,
    );
}
for (const [redis, latencyMs] of [
  [false, 0],
  [true, 0],
  [true, 5],
] as const) {
  const rate = await throughput(redis, latencyMs);
  report.throughput.push({ redis, latency_ms: latencyMs, requests_per_second: rate });
  if (!flags.json)
    process.stdout.write(`${redis ? `Redis ${latencyMs} ms away` : 'no Redis'}: ${rate} requests/s\n`);
}
if (flags.json) process.stdout.write(`${JSON.stringify(report)}\n`);
