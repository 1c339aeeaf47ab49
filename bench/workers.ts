/**
 * What a request costs with and without workers, in CPU time of all processes of the gateway, which does not depend on what else
 * runs on the machine; and how evenly the workers took the requests.
 *   node bench/workers.ts [--requests N] [--connections N] [--rounds N] [--json]
 * A gateway whose workers take CPU as one process does, and whose owner takes little, serves twice as much with two of them
 * on two cores.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type RunningGateway, startGateway } from '../test/support/gateway.ts';
import type { LoopJob, LoopResult } from './load.ts';
import { type Format, planName } from './plan.ts';

const flags = parseArgs({
  options: {
    requests: { type: 'string', default: '4000' },
    connections: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
}).values;

/** Clock ticks of proc(5), which are hundredths of a second on every Linux. */
const TICK_US = 10_000;
const CHAT: Format = 'chat';
const plan = planName({
  kind: 'json',
  client: CHAT,
  upstream: CHAT,
  request: '1k',
  modelAt: 'first',
  answerBytes: 1_024,
});

interface Measured {
  workers: number;
  limited: boolean;
  /** Microseconds of CPU for each request: of the process that was started, and of each worker. */
  owner: number;
  each: number[];
  total: number;
  perSecond: number;
}

async function listening(script: string): Promise<{ child: ChildProcess; port: number }> {
  const file = new URL(`./${script}.ts`, import.meta.url);
  const child = fork(file, ['0'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  for await (const text of child.stdout ?? []) {
    const line = /listening on (?:ipc|http:\/\/[\d.]+:(\d+))/.exec(String(text));
    if (line !== null) return { child, port: Number(line[1] ?? 0) };
  }
  throw new Error(`${script} did not start`);
}

/** User and system time of a process, in microseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

async function run(load: ChildProcess, job: LoopJob): Promise<LoopResult> {
  load.send(job);
  const [result] = (await once(load, 'message')) as [LoopResult];
  if (result.failed > 0) throw new Error(`${result.failed} requests failed: ${result.reasons.join('; ')}`);
  return result;
}

async function measure(
  gateway: RunningGateway,
  load: ChildProcess,
  { key, limited, workers }: { key: string; limited: boolean; workers: number },
): Promise<Measured> {
  const job: LoopJob = {
    kind: 'loop',
    port: gateway.port,
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    plan,
    model: `up/${plan}`,
    connections: Number(flags.connections),
    seconds: 600,
    count: Number(flags.requests),
  };
  // What is compiled at the first requests is no part of what a request costs.
  await run(load, job);
  const pids = childrenOf(gateway.pid);
  const before = [gateway.pid, ...pids].map(cpuOf);
  const { completed, seconds } = await run(load, job);
  const used = [gateway.pid, ...pids].map((pid, index) => (cpuOf(pid) - (before[index] ?? 0)) / completed);
  const [owner = 0, ...each] = used.map(Math.round);
  const total = Math.round(used.reduce((sum, one) => sum + one, 0));
  return { workers, limited, owner, each, total, perSecond: Math.round(completed / seconds) };
}

const mock = await listening('mock');
const load = await listening('load');
const results: Measured[] = [];
try {
  for (let round = 0; round < Number(flags.rounds); round += 1)
    for (const workers of [1, 2]) {
      const gateway = await startGateway({
        config: { log_level: 'warn', access_log: false },
        env: { GATEWAY_WORKERS: String(workers) },
        connections: [
          { provider: 'openai-compatible', name: 'up', baseUrl: `http://127.0.0.1:${mock.port}/v1` },
        ],
      });
      try {
        results.push(await measure(gateway, load.child, { key: gateway.key, limited: false, workers }));
        const made = await gateway.manage('POST', '/api/keys', { name: 'limited', rpm: 1_000_000 });
        const [limited] = (made.json() as { results: { key: string }[] }).results;
        results.push(await measure(gateway, load.child, { key: limited?.key ?? '', limited: true, workers }));
      } finally {
        await gateway.stop();
      }
    }
} finally {
  mock.child.kill();
  load.child.kill();
}

if (flags.json) console.log(JSON.stringify(results));
else
  for (const { each, limited, owner, perSecond, total, workers } of results)
    console.log(
      `${workers === 1 ? 'one process' : `${workers} workers  `} ${limited ? 'limited key' : 'plain key  '} ` +
        `${total} µs of CPU a request (owner ${owner}${each.length > 0 ? `, workers ${each.join(' + ')}` : ''}), ${perSecond}/s`,
    );
