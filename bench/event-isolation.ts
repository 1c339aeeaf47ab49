/**
 * What model requests pay for events that go nowhere (E21): one gateway without events, and one whose message queues are all down,
 * whose disk for events is full, and whose trigger never answers. The same requests to both in turns, and what they took.
 *
 *     node bench/event-isolation.ts [REQUESTS]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type RunningGateway, startGateway, waitFor } from '../test/support/gateway/gateway.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const REQUESTS = Number(positionals[0] ?? 6_000);
/** A pause of the machine is in one round, and not in the median of all. */
const ROUND = 500;
/** Of each gateway: until everything that an event goes through is compiled. */
const WARM_UP = 1_500;

/** Takes connections and never answers. */
const hanging = createServer(() => {});
await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
const hangingUrl = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
const disk = mkdtempSync(join(tmpdir(), 'gateway-full-disk-'));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', disk]).status === 0;

/** What nobody listens for. */
const QUEUES = ['nats', 'redis', 'amqp', 'postgres'];

const configuration = `components:
  channels:
    - {unique_id: nats, url: "nats://127.0.0.1:9", mq_topic_name: t}
    - {unique_id: redis, url: "redis://127.0.0.1:9", mq_topic_name: t}
    - {unique_id: amqp, url: "amqp://127.0.0.1:9", mq_topic_name: t}
    - {unique_id: postgres, url: "postgres://127.0.0.1:9/x", mq_topic_name: t}
    - {unique_id: disk, url: "sqlite://${disk}/events.db", mq_topic_name: t}
    - {unique_id: memory, url: "memory:", mq_topic_name: t}
  sources:
    - ref: {unique_id: waits, kind: gateway}
    - ref: {unique_id: spools, kind: gateway}
  triggers:
    - ref: {unique_id: hangs, kind: http, name: "${hangingUrl}"}
strategy:
  source_strategies:
    - event_source_id: spools
      async_send: true
      fault_tolerant_storage: {persistence_type: LFS, full_strategy: DROP}
  trigger_strategies:
    - event_trigger_id: hangs
      runtime_strategy: {retry_rule: {retry_max: 1000}}
router_rules:
  routers:
${[...QUEUES, 'disk', 'memory']
  .flatMap((channel) =>
    ['waits', 'spools'].map(
      (source) => `    - {source_id: ${source}, trigger_id: hangs, channel_id: ${channel}}`,
    ),
  )
  .join('\n')}
`;

interface Client {
  ask(): Promise<{ ok: boolean; ms: number }>;
  cpuSeconds(): number;
}

function clientOf(gateway: RunningGateway): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] });
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        const begun = performance.now();
        const options = { host: '127.0.0.1', port: gateway.port, agent, method: 'POST', headers };
        const sent = request({ ...options, path: '/v1/chat/completions' }, (response) => {
          response.resume();
          response.on('end', () =>
            resolve({ ok: response.statusCode === 200, ms: performance.now() - begun }),
          );
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    cpuSeconds: () => cpuSecondsOf(gateway.pid),
  };
}

/** Of all threads, in user and kernel mode, to a hundredth. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program may hold spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

const sorted = (times: readonly number[]): number[] => [...times].sort((a, b) => a - b);
/** The median of what the rounds have. */
function ofRounds(times: readonly number[], share: number): number {
  const rounds: number[] = [];
  for (let from = 0; from < times.length; from += ROUND)
    rounds.push(quantile(sorted(times.slice(from, from + ROUND)), share));
  return quantile(sorted(rounds), 0.5);
}
const quantile = (ordered: readonly number[], share: number): number =>
  ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? 0;

const plain = await startGateway();
const broken = await startGateway({ env: { EVENTS_LFS_DIR: join(disk, 'storage') } });
try {
  writeFileSync(join(broken.dataDir, 'events.yaml'), configuration);
  const unreachable = /a message queue cannot be reached/g;
  // Loading the clients of message queues is part of the start, not of the requests.
  await waitFor('the configuration, and queues that are down', () => {
    const { stderr, stdout } = broken.output();
    return [...(stdout + stderr).matchAll(unreachable)].length >= QUEUES.length;
  });
  if (mounted) spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=4k']);
  const clients = { plain: clientOf(plain), broken: clientOf(broken) };
  for (let index = 0; index < WARM_UP; index += 1)
    for (const client of Object.values(clients)) await client.ask();
  const times = { plain: [] as number[], broken: [] as number[] };
  const failures = { plain: 0, broken: 0 };
  const cpu = { plain: -clients.plain.cpuSeconds(), broken: -clients.broken.cpuSeconds() };
  for (let index = 0; index < REQUESTS; index += 1) {
    // Whoever goes second must not always be the same.
    for (const name of index % 2 === 0 ? (['plain', 'broken'] as const) : (['broken', 'plain'] as const)) {
      const { ms, ok } = await clients[name].ask();
      times[name].push(ms);
      if (!ok) failures[name] += 1;
    }
  }
  for (const name of ['plain', 'broken'] as const) {
    cpu[name] += clients[name].cpuSeconds();
    const at = [0.5, 0.9, 0.99].map((share) => `${ofRounds(times[name], share).toFixed(2)} ms`);
    console.log(
      `${name.padEnd(7)} p50 ${at[0]}, p90 ${at[1]}, p99 ${at[2]}; ${failures[name]} of ${REQUESTS} failed; ${cpu[name].toFixed(2)} s of CPU`,
    );
  }
  const added = ofRounds(times.broken, 0.99) - ofRounds(times.plain, 0.99);
  console.log(
    `added at p99: ${added.toFixed(2)} ms${mounted ? '' : ' (the disk is not full: mounting one needs root)'}`,
  );
  console.log(`CPU beside events off: ${(cpu.broken / cpu.plain).toFixed(2)}`);
  const lines = broken.output().stdout + broken.output().stderr;
  console.log(
    `what the log says: ${[...new Set([...lines.matchAll(/"msg":"([^"]*event[^"]*|[^"]*storage[^"]*)"/g)].map(([, text]) => text))].join('; ')}`,
  );
} finally {
  await plain.kill();
  await broken.kill();
  if (mounted) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
  hanging.closeAllConnections();
  hanging.close();
}
