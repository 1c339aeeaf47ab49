import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { startNats } from '../support/brokers/nats.ts';
import { startPostgres } from '../support/brokers/postgres.ts';
import { startRedis } from '../support/brokers/redis.ts';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { exchange } from '../support/client.ts';
import { addConnections, addKey } from '../support/data-dir.ts';
import { delayedPort } from '../support/delayed-port.ts';
import { bearer, waitFor } from '../support/gateway.ts';
import { type GatewayNode, gatewayNode, usedBy } from '../support/gateway-node.ts';
import { type LedgerReport, seeded } from './ledger.ts';
import { askNode, dialects, type Manner, type Outcome } from './nodes-client.ts';
import { startNodesEvents } from './nodes-events.ts';
import { type NodesUpstream, type Plan, startNodesUpstream } from './nodes-upstream.ts';
import { openStallingDisk, type StallingDisk } from './stalling-disk.ts';
import { growthInTenMinutes, type Sample, smallestOfMinutes } from './trend.ts';

export interface TwoNodesInput {
  readonly folder: string;
  readonly minutes: number;
  readonly seed: number;
  /** Processes that serve the model endpoints of each gateway. */
  readonly workers: number;
}

export interface TwoNodesReport {
  readonly requests: number;
  readonly endings: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** Answers that are neither whole nor an error nor cut by a fault of the run, the first ten. */
  readonly wrong: readonly string[];
  /** Connections that broke where nothing explains it, the first ten. */
  readonly unexplained: readonly string[];
  readonly ledgerRows: number;
  /** Requests whose client has an answer and whose row is missing, though their gateway lived on. */
  readonly missingRows: readonly string[];
  /** The same of gateways that were killed within a second after the answer: their rows were in memory. */
  readonly missingByKill: number;
  /** Rows of one answer of the upstream beyond the first. */
  readonly doubledRows: number;
  /** Complete answers whose row says something else. */
  readonly otherOutcome: readonly string[];
  /** Requests that reached the upstream again though it had not failed them. */
  readonly sentTwice: number;
  /** The budget: its limit, and how many of its requests reached the upstream. */
  readonly budget: { readonly limit: number; readonly sent: number; readonly overspent: number };
  /** Growth in ten minutes of the used heap of the gateway that is not restarted in the end, in MiB. */
  readonly heapGrowthMiB: number;
  /** The processes of that gateway: the one that was started first, then its workers. */
  readonly processes: readonly ProcessReport[];
  readonly samples: number;
  /** Events that were sent to the gateways, through NATS and through Redis. */
  readonly events: LedgerReport;
}

export interface ProcessReport {
  /** Open files before the load, and when it has nothing to do any more. */
  readonly files: readonly [number, number];
  /** In ten minutes, of the smallest of each minute: resident memory in MiB, and open files. */
  readonly residentGrowthMiB: number;
  readonly fileGrowth: number;
}

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const CLIENTS = 16;
const SAMPLE_MS = 2_000;
/** What is missing of an answer that ended so shortly before a kill was ending just then. */
const LOST_BY_KILL_MS = 1_000;
/** Longer than a gateway that was killed keeps others from its events. */
const EVENTS_QUIET_MS = 60_000;

interface Disturbance {
  readonly node: number;
  readonly kind: 'killed' | 'stopped' | 'paused' | 'worker killed';
  readonly from: number;
  to: number;
}

/**
 * Two gateways on one PostgreSQL database and one Redis, under mixed load, while gateways, servers and upstreams fail in turns.
 * Every request is accounted for: by its client, by the upstream, and by the ledger.
 */
export async function runTwoNodes({
  folder,
  minutes,
  seed,
  workers,
}: TwoNodesInput): Promise<TwoNodesReport> {
  const random = seeded(seed);
  const database = await startPostgres(join(folder, 'postgres'));
  const redis = await startRedis(join(folder, 'redis'));
  const nats = await startNats(join(folder, 'nats'));
  const upstream = await startNodesUpstream(seeded(seed + 1));
  const events = await startNodesEvents({ nats: nats.url, redis: redis.url });
  const disk = openStallingDisk(join(folder, 'disk'));
  const nodes: GatewayNode[] = [];
  const networks: Network[] = [];
  let endLoad = async (): Promise<readonly Outcome[]> => [];
  try {
    for (const name of ['one', 'two']) {
      const network = await openNetwork([database, redis]);
      networks.push(network);
      const env = {
        DATABASE_URL: network.address(database),
        REDIS_URL: network.address(redis),
        // Which events were handled is known to both.
        EVENTS_DATABASE_URL: network.address(database),
        STORAGE_ENCRYPTION_KEY: SECRET,
        GATEWAY_LOG_LEVEL: 'warn',
        GATEWAY_WORKERS: String(workers),
      };
      const dataDir = join(disk?.folder ?? folder, name);
      const node = await gatewayNode({ dataDir, env });
      writeFileSync(join(dataDir, 'events.yaml'), events.yaml);
      nodes.push(node);
    }
    const servers = { database, redis, nats, upstream, disk, networks };
    const world: World = { ...servers, nodes, random, disturbances: [], faults: {} };
    const keys = await setUp(world, Math.ceil(minutes * 40));
    const filesBefore = (nodes[0]?.pids() ?? []).map((pid) => usedBy(pid)?.openFiles ?? 0);
    endLoad = startLoad(world, keys);
    events.begin(nodes);
    const sampling = startSampling(nodes[0]);
    const until = performance.now() + minutes * 60_000;
    while (performance.now() < until) {
      // The first gateway is not restarted after the first quarter, so that what it piles up is seen.
      const only = performance.now() > until - minutes * 45_000 ? 1 : null;
      await disturb(world, only);
      await delay(1_000 + random() * 4_000);
    }
    const outcomes = await endLoad();
    const samples = sampling.end();
    const delivered = await events.end(EVENTS_QUIET_MS);
    const processes = await processReports(nodes[0], filesBefore, samples);
    for (const node of nodes) await node.stop();
    return {
      ...(await judge(world, { outcomes, samples, limit: keys.limit })),
      processes,
      events: delivered,
    };
  } finally {
    disk?.resume();
    for (const node of nodes) await node.kill();
    await endLoad();
    await events.end(0);
    await Promise.all([database.kill(), redis.kill(), nats.kill(), upstream.close(), events.close()]);
    for (const network of networks) await network.close();
    disk?.close();
  }
}

/** How one gateway reaches the servers: each through a port of its own, on which nothing may pass. */
interface Network {
  address(server: PrivateBroker): string;
  /** What is sent on open connections is lost, nobody is told, and new ones are refused. */
  part(): void;
  join(): void;
  close(): Promise<void>;
}

async function openNetwork(servers: readonly PrivateBroker[]): Promise<Network> {
  const ports = new Map(
    await Promise.all(servers.map(async (server) => [server, await delayedPort(() => server.port)] as const)),
  );
  return {
    address: (server) => server.url.replace(`:${server.port}`, `:${ports.get(server)?.port}`),
    part() {
      for (const port of ports.values()) {
        port.silence();
        port.refuses = true;
      }
    },
    join() {
      for (const port of ports.values()) port.refuses = false;
    },
    async close() {
      await Promise.all([...ports.values()].map((port) => port.close()));
    },
  };
}

interface World {
  readonly database: PrivateBroker;
  readonly redis: PrivateBroker;
  readonly nats: PrivateBroker;
  readonly upstream: NodesUpstream;
  /** Holds the data directories; null where none can be mounted. */
  readonly disk: StallingDisk | null;
  readonly networks: readonly Network[];
  readonly nodes: readonly GatewayNode[];
  readonly random: () => number;
  readonly disturbances: Disturbance[];
  readonly faults: Record<string, number>;
}

interface Keys {
  readonly open: string;
  /** Under a budget of so many requests. */
  readonly limited: string;
  readonly limit: number;
}

async function setUp({ database, nodes, upstream }: World, limit: number): Promise<Keys> {
  const place = { dataDir: nodes[0]?.dataDir ?? '', database: database.url, secret: SECRET };
  const open = await addKey(place, 'open');
  const limited = await addKey(place, 'limited');
  await addConnections(place, [
    { provider: 'openai-compatible', name: 'chat', baseUrl: `${upstream.url}/v1` },
    { provider: 'anthropic-compatible', name: 'anth', baseUrl: upstream.url },
    { provider: 'openai-compatible', name: 'flaky', baseUrl: `${upstream.url}/flaky/v1` },
  ]);
  await Promise.all(nodes.map((node) => node.start()));
  const made = async (path: string, body: object) => {
    const reply = await nodes[0]?.manage('POST', path, body);
    if (reply?.status !== 200) throw new Error(`${path}: ${reply?.text}`);
  };
  await made('/api/combos', { name: 'mix', targets: ['flaky/m-1', 'chat/m-1'] });
  await made('/api/budgets', { scope: 'key', subject: 'limited', metric: 'requests', period: 'day', limit });
  await waitFor('the combo at the other gateway', async () => {
    const reply = await exchange(nodes[1]?.port ?? 0, {
      method: 'GET',
      path: '/v1/models',
      headers: bearer(open),
    });
    return reply.text.includes('"mix"');
  });
  return { open, limited, limit };
}

function startLoad({ nodes, random }: World, { limited, open }: Keys) {
  const outcomes: Outcome[] = [];
  const state = { on: true, count: 0 };
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const client = async () => {
    while (state.on) {
      state.count += 1;
      const underBudget = random() < 0.15;
      const slowly = random() < 0.3;
      const manner: Manner = random() < 0.06 ? 'leaves' : random() < 0.06 ? 'slow' : 'prompt';
      const stream = manner !== 'prompt' || random() < 0.6;
      // Of a whole answer nothing can be cut.
      const cuts = stream && !underBudget && random() < 0.06;
      const plan: Plan = {
        nonce: `${underBudget ? 'limited' : 'open'}-${state.count}`,
        words: slowly ? 25 : 4,
        everyMs: slowly ? 60 : 0,
        cutAfter: cuts ? 3 : null,
      };
      const first = Math.floor(random() * nodes.length);
      const asked = {
        plan,
        key: underBudget ? limited : open,
        dialect: pick(dialects),
        model: cuts || underBudget ? 'chat/m-1' : pick(['chat/m-1', 'anth/m-1', 'mix']),
        stream,
        manner,
      };
      const outcome = await askNode({ ...asked, node: first, port: nodes[first]?.port ?? 0 });
      outcomes.push(outcome);
      // As behind a balancer: what nobody received is sent to the other one, as another request.
      await delay(outcome.ending === 'refused' ? 300 : random() * 150);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  return async (): Promise<readonly Outcome[]> => {
    state.on = false;
    await clients;
    return outcomes;
  };
}

const startFailures: readonly (readonly [string, RegExp])[] = [
  ['starts without a database', /does not answer/],
  // Workers of a gateway that was killed may take a moment to end.
  ['starts before the port was free', /in use/],
];

/** As a supervisor does: a gateway whose database does not answer yet ends, and is started again. */
async function startAgain(node: GatewayNode, faults: Record<string, number>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await node.start();
    } catch (error) {
      const reason = startFailures.find(([, text]) => text.test(String(error)))?.[0];
      if (tries === 20 || reason === undefined) throw error;
      faults[reason] = (faults[reason] ?? 0) + 1;
    }
  }
}

/** One thing that goes wrong for a while, and is well again. @param only the gateway that may be restarted; null for either */
async function disturb(world: World, only: number | null): Promise<void> {
  const { database, disk, disturbances, faults, nats, networks, nodes, random, redis } = world;
  const lasts = () => delay(500 + random() * 6_000);
  const index = only ?? Math.floor(random() * nodes.length);
  const node = nodes[index] as GatewayNode;
  const during = async (kind: Disturbance['kind'], at: number, work: () => Promise<unknown>) => {
    const one: Disturbance = { node: at, kind, from: performance.now(), to: Number.POSITIVE_INFINITY };
    disturbances.push(one);
    await work();
    one.to = performance.now();
  };
  const outage = async (server: PrivateBroker) => {
    await server.kill();
    await lasts();
    await server.start();
  };
  const kinds: Readonly<Record<string, () => Promise<void>>> = {
    'gateway killed': () =>
      during('killed', index, async () => {
        await node.kill();
        await lasts();
        await startAgain(node, faults);
      }),
    'gateway stopped': () =>
      during('stopped', index, async () => {
        const code = await node.stop();
        if (code !== 0) throw new Error(`a gateway ended with ${code}: ${node.log().slice(-2_000)}`);
        await startAgain(node, faults);
      }),
    async 'gateway paused'() {
      const any = Math.floor(random() * nodes.length);
      await during('paused', any, async () => {
        nodes[any]?.pause();
        await delay(2_000 + random() * 8_000);
        nodes[any]?.resume();
      });
    },
    'database killed': () => outage(database),
    async 'database paused'() {
      database.pause();
      await lasts();
      database.resume();
    },
    'Redis killed': () => outage(redis),
    async 'Redis paused'() {
      redis.pause();
      await lasts();
      redis.resume();
    },
    'NATS killed': () => outage(nats),
    async 'gateway parted from database and Redis'() {
      const network = networks[Math.floor(random() * networks.length)];
      network?.part();
      await lasts();
      network?.join();
    },
    ...(disk === null
      ? {}
      : {
          async 'disk stalled'() {
            disk.stall();
            await lasts();
            disk.resume();
          },
        }),
    ...(node.pids().length < 2
      ? {}
      : {
          'worker killed': () =>
            during('worker killed', index, async () => {
              const workers = node.pids().slice(1);
              const pid = workers[Math.floor(random() * workers.length)];
              if (pid !== undefined) process.kill(pid, 'SIGKILL');
              await waitFor('the worker again', () => node.pids().length > workers.length);
            }),
        }),
    async 'database and gateway killed'() {
      await database.kill();
      await lasts();
      await during('killed', index, async () => {
        await node.kill();
        await lasts();
        // A gateway that starts needs the database.
        await database.start();
        await startAgain(node, faults);
      });
    },
  };
  const names = Object.keys(kinds);
  const name = names[Math.floor(random() * names.length)] ?? '';
  faults[name] = (faults[name] ?? 0) + 1;
  await kinds[name]?.();
}

/** What the processes of a gateway have at rest: in a minute idle connections are closed, of which the fewest count. */
async function processReports(
  node: GatewayNode | undefined,
  filesBefore: readonly number[],
  { processes }: Samples,
): Promise<ProcessReport[]> {
  const pids = node?.pids() ?? [];
  const fewest = pids.map(() => Number.POSITIVE_INFINITY);
  for (let second = 0; second < 60; second += 1) {
    for (const [index, pid] of pids.entries())
      fewest[index] = Math.min(fewest[index] ?? 0, usedBy(pid)?.openFiles ?? Number.POSITIVE_INFINITY);
    await delay(1_000);
  }
  return pids.map((pid, index) => {
    const of = processes.get(pid) ?? { resident: [], files: [] };
    return {
      files: [filesBefore[index] ?? 0, fewest[index] ?? 0],
      residentGrowthMiB: growthOf(of.resident),
      fileGrowth: growthOf(of.files),
    };
  });
}

/** Without the first quarter, in which memory is still being filled. */
function growthOf(samples: readonly Sample[]): number {
  const later = smallestOfMinutes(samples.slice(Math.floor(samples.length / 4)));
  return Math.round(growthInTenMinutes(later) * 10) / 10;
}

interface Samples {
  readonly heap: Sample[];
  /** By the id of the process. */
  readonly processes: ReadonlyMap<number, { readonly resident: Sample[]; readonly files: Sample[] }>;
}

function startSampling(node: GatewayNode | undefined) {
  const heap: Sample[] = [];
  const processes = new Map<number, { resident: Sample[]; files: Sample[] }>();
  const sample = async () => {
    const at = performance.now();
    for (const pid of node?.pids() ?? []) {
      const used = usedBy(pid);
      if (used === null) continue;
      const of = processes.get(pid) ?? { resident: [], files: [] };
      processes.set(pid, of);
      of.files.push({ at, value: used.openFiles });
      of.resident.push({ at, value: used.residentBytes / 1_048_576 });
    }
    const reply = await node?.manage('GET', '/metrics').catch(() => null);
    const [, bytes] = /^nodejs_heap_size_used_bytes (\d+)/m.exec(reply?.text ?? '') ?? [];
    if (bytes !== undefined) heap.push({ at, value: Number(bytes) / 1_048_576 });
  };
  const timer = setInterval(() => void sample().catch(() => {}), SAMPLE_MS);
  return {
    end(): Samples {
      clearInterval(timer);
      return { heap, processes };
    },
  };
}

interface Row {
  id: string;
  outcome: string;
  upstream_request_id: string | null;
}

interface Evidence {
  readonly outcomes: readonly Outcome[];
  readonly samples: Samples;
  readonly limit: number;
}

async function judge(
  { database, disturbances, faults, upstream }: World,
  { limit, outcomes, samples }: Evidence,
): Promise<Omit<TwoNodesReport, 'processes' | 'events'>> {
  const rows = await ledgerOf(database.url);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const touches = (
    { begunAt, endedAt, node }: Outcome,
    kinds: readonly Disturbance['kind'][],
    marginMs = 0,
  ) =>
    disturbances.some(
      (one) =>
        one.node === node &&
        kinds.includes(one.kind) &&
        one.from - marginMs <= endedAt &&
        one.to + marginMs >= begunAt,
    );
  const told = ({ begunAt, detail, ending, endedAt, node, plan }: Outcome) =>
    `${plan.nonce} at gateway ${node}: ${ending} ${detail} after ${Math.round(endedAt - begunAt)} ms`;
  const wrong = outcomes.filter(({ ending }) => ending === 'wrong' || ending === 'hung');
  const unexplained = outcomes.filter(
    (one) =>
      (one.ending === 'cut' && one.plan.cutAfter === null && !touches(one, ['killed', 'worker killed'])) ||
      (one.ending === 'refused' && !touches(one, ['killed', 'stopped', 'paused', 'worker killed'], 50)),
  );
  // What was under way when its gateway was killed has not finished.
  const answered = outcomes.filter(
    (one) =>
      one.id !== null &&
      one.id !== '' &&
      (one.ending === 'cut' ? !touches(one, ['killed', 'worker killed']) : one.ending !== 'hung'),
  );
  const missing = answered.filter(({ id }) => !byId.has(id ?? ''));
  const byKill = missing.filter((one) => touches(one, ['killed', 'worker killed'], LOST_BY_KILL_MS));
  const answers = rows.flatMap(({ upstream_request_id: id }) => (id === null ? [] : [id]));
  const sent = [...upstream.arrivals].filter(([nonce]) => nonce.startsWith('limited-')).length;
  return {
    requests: outcomes.length,
    endings: countsOf(outcomes.map(({ ending }) => ending)),
    errors: countsOf(
      outcomes
        .filter(({ ending }) => ending === 'error')
        // Why a model is not found is worth a look.
        .map(({ detail }) => (detail.startsWith('404') ? detail : detail.split(' ').slice(0, 2).join(' '))),
    ),
    faults,
    wrong: wrong.slice(0, 10).map(told),
    unexplained: unexplained.slice(0, 10).map(told),
    ledgerRows: rows.length,
    missingRows: missing
      .filter((one) => !byKill.includes(one))
      .slice(0, 10)
      .map((one) => `${one.id} ${told(one)}`),
    missingByKill: byKill.length,
    doubledRows: rows.length - byId.size + (answers.length - new Set(answers).size),
    otherOutcome: outcomes
      .filter(({ ending, id }) => ending === 'complete' && (byId.get(id ?? '')?.outcome ?? 'ok') !== 'ok')
      .slice(0, 10)
      .map((one) => `${told(one)}: ${byId.get(one.id ?? '')?.outcome}`),
    sentTwice: outcomes.filter(
      ({ plan }) => plan.cutAfter === null && (upstream.arrivals.get(plan.nonce) ?? 0) > 1,
    ).length,
    budget: { limit, sent, overspent: Math.max(0, sent - limit) },
    heapGrowthMiB: growthOf(samples.heap),
    samples: samples.heap.length,
  };
}

async function ledgerOf(url: string): Promise<Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe<Row[]>('select id, outcome, upstream_request_id from requests'))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
