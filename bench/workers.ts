/**
 * What a request costs with and without workers, in CPU time of all processes of the gateway, and how evenly the workers took the
 * requests.
 *   node bench/workers.ts [--requests N] [--connections N] [--rounds N] [--lanes LIST] [--against DIR] [--json]
 * The lanes take turns: one process; a gateway with two workers; and two separate gateways of one process each, which share the
 * requests. The last is the control: as many busy processes on the two cores as the workers are, which have nothing in common.
 * `--against` runs another checkout in the same turns. All processes have the same number of connections. Turns are short and
 * many, and lower quartiles of them count, because other work on the machine can only add to a turn.
 * At saturation two cores serve 2 / (CPU of a request) a second and one core 1 / (CPU of a request): their ratio is the scaling.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/cli/demo-data/random.ts';
import type { RunningGateway, startGateway } from '../test/support/gateway/gateway.ts';
import type { LoopJob, LoopResult } from './load.ts';
import { type Format, planName } from './plan.ts';
import { root } from './subject.ts';

const flags = parseArgs({
  options: {
    /** Of each turn. */
    requests: { type: 'string', default: '1000' },
    /** Of each process that serves requests, with each key. Compiling takes some 30,000 requests of a process to come to its end. */
    'warm-up': { type: 'string', default: '16000' },
    /** Of each of them. */
    connections: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '24' },
    lanes: { type: 'string', default: 'one,workers,separate' },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
}).values;

const CHAT: Format = 'chat';
const plan = planName({
  kind: 'json',
  client: CHAT,
  upstream: CHAT,
  request: '1k',
  modelAt: 'first',
  answerBytes: 1_024,
});

interface Lane {
  name: string;
  gateways: number;
  /** Of each gateway; 1: it is one process. */
  workers: number;
}

const lanes = {
  one: { name: 'one process', gateways: 1, workers: 1 },
  workers: { name: 'two workers', gateways: 1, workers: 2 },
  separate: { name: 'two separate gateways', gateways: 2, workers: 1 },
} as const satisfies Record<string, Lane>;

type LaneId = keyof typeof lanes;

/** The gateways of a lane, ready for requests. */
interface Subject {
  /** With the checkout, where two are compared. */
  name: string;
  lane: LaneId;
  gateways: readonly RunningGateway[];
  /** A key without and one with a limit, for each gateway. */
  keys: { plain: readonly string[]; limited: readonly string[] };
}

type KeyKind = keyof Subject['keys'];
const keyKinds = ['plain', 'limited'] as const;

/** Microseconds of CPU for each request of a turn. */
interface Turn {
  subject: string;
  lane: LaneId;
  key: KeyKind;
  total: number;
  /** Of the processes that own data directories, and of each other process. */
  owner: number;
  each: number[];
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

/** CPU time of all threads of a process, in microseconds, of which the scheduler keeps nanoseconds (proc_pid_schedstat(5)). */
function cpuOf(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const times = readdirSync(folder).map((task) =>
    Number(readFileSync(`${folder}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, one) => sum + one, 0) / 1_000;
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

async function send({ gateways, keys, lane }: Subject, key: KeyKind, requests: number): Promise<number> {
  const jobs = gateways.map(
    ({ port }, index): LoopJob => ({
      kind: 'loop',
      port,
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${keys[key][index]}`, 'content-type': 'application/json' },
      plan,
      model: `up/${plan}`,
      connections: Number(flags.connections) * lanes[lane].workers,
      seconds: 600,
      count: requests / gateways.length,
    }),
  );
  const results = await Promise.all(jobs.map((job, index) => run(loads[index]?.child ?? mock.child, job)));
  return results.reduce((sum, one) => sum + one.completed, 0);
}

async function measure(subject: Subject, key: KeyKind): Promise<Turn> {
  const { gateways, lane, name } = subject;
  const owners = gateways.map(({ pid }) => pid);
  const pids = owners.flatMap((pid) => [pid, ...childrenOf(pid)]);
  const before = pids.map(cpuOf);
  const completed = await send(subject, key, Number(flags.requests));
  // What is written a moment later belongs to the requests too.
  await new Promise((done) => setTimeout(done, 150));
  const used = pids.map((pid, index) => (cpuOf(pid) - (before[index] ?? 0)) / completed);
  const [ofOwners, each] = [
    used.filter((_, index) => owners.includes(pids[index] ?? 0)),
    used.filter((_, index) => !owners.includes(pids[index] ?? 0)),
  ];
  return { subject: name, lane, key, total: sumOf(used), owner: sumOf(ofOwners), each };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

/** Starts the gateways of a lane with the program of a checkout. */
async function startLane(lane: LaneId, folder: string): Promise<Subject> {
  const support: { startGateway: typeof startGateway } = await import(
    pathToFileURL(resolve(folder, 'test/support/gateway/gateway.ts')).href
  );
  const { gateways: count, name, workers } = lanes[lane];
  const gateways = await Promise.all(
    Array.from({ length: count }, () =>
      support.startGateway({
        config: { log_level: 'warn', access_log: false },
        env: { GATEWAY_WORKERS: String(workers) },
        connections: [
          { provider: 'openai-compatible', name: 'up', baseUrl: `http://127.0.0.1:${mock.port}/v1` },
        ],
      }),
    ),
  );
  const limited = await Promise.all(gateways.map(limitedKey));
  return {
    name: flags.against === undefined ? name : `${name}, ${folder === root ? 'this checkout' : folder}`,
    lane,
    gateways,
    keys: { plain: gateways.map(({ key }) => key), limited },
  };
}

async function limitedKey(gateway: RunningGateway): Promise<string> {
  const made = await gateway.manage('POST', '/api/keys', { name: 'limited', rpm: 1_000_000 });
  const [limited] = (made.json() as { results: { key: string }[] }).results;
  return limited?.key ?? '';
}

/** How many processes share the requests of a lane. */
function processesOf(lane: LaneId): number {
  return lanes[lane].gateways * lanes[lane].workers;
}

function isLane(name: string): name is LaneId {
  return Object.hasOwn(lanes, name);
}

/** The value that three quarters of all reach. */
function lowerQuartile(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 4)] ?? Number.NaN;
}

const random = createRandom(1);

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

const mock = await listening('mock');
const loads = [await listening('load'), await listening('load')];
const subjects: Subject[] = [];
const turns: Turn[] = [];
try {
  for (const lane of flags.lanes.split(',').filter(isLane))
    for (const folder of flags.against === undefined ? [root] : [flags.against, root])
      subjects.push(await startLane(lane, folder));
  // What is compiled at the first requests is no part of what a request costs.
  for (const subject of subjects)
    for (const key of keyKinds)
      await send(subject, key, Number(flags['warm-up']) * processesOf(subject.lane));
  for (let round = 0; round < Number(flags.rounds); round += 1)
    // In another order each time: a turn leaves its marks in the caches of the processor.
    for (const subject of shuffled(subjects))
      for (const key of keyKinds) turns.push(await measure(subject, key));
} finally {
  await Promise.all(subjects.flatMap(({ gateways }) => gateways.map((gateway) => gateway.stop())));
  for (const { child } of [mock, ...loads]) child.kill();
}

if (flags.json) console.log(JSON.stringify(turns));
else
  for (const key of keyKinds)
    for (const { lane, name } of subjects) {
      const own = turns.filter((turn) => turn.key === key && turn.subject === name);
      const of = (value: (turn: Turn) => number) => Math.round(lowerQuartile(own.map(value)));
      const parts =
        lanes[lane].workers === 1
          ? ''
          : `, of which the owner ${of(({ owner }) => owner)}; of all requests the busier worker took ${Math.round(100 * lowerQuartile(own.map(({ each }) => Math.max(...each) / sumOf(each))))} %`;
      console.log(
        `${key.padEnd(7)} ${name}: ${of(({ total }) => total)} µs of CPU a request` +
          ` (median ${Math.round(own.map(({ total }) => total).sort((a, b) => a - b)[own.length >> 1] ?? 0)})${parts}`,
      );
    }
