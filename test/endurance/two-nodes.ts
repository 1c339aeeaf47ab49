import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { startPostgres } from '../support/brokers/postgres.ts';
import { startRedis } from '../support/brokers/redis.ts';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { exchange } from '../support/client.ts';
import { addConnections, addKey } from '../support/data-dir.ts';
import { bearer, waitFor } from '../support/gateway.ts';
import { type GatewayNode, gatewayNode } from '../support/gateway-node.ts';
import { seeded } from './ledger.ts';
import { askNode, dialects, type Manner, type Outcome } from './nodes-client.ts';
import { type NodesUpstream, type Plan, startNodesUpstream } from './nodes-upstream.ts';
import { growthInTenMinutes, type Sample, smallestOfMinutes } from './trend.ts';

export interface TwoNodesInput {
  readonly folder: string;
  readonly minutes: number;
  readonly seed: number;
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
  /** Growth in ten minutes of the gateway that runs longest: used heap and resident memory in MiB, and open files. */
  readonly growth: { readonly heapMiB: number; readonly residentMiB: number; readonly openFiles: number };
  readonly samples: number;
  /** Open files of that gateway before the load, and when it has nothing to do any more. */
  readonly files: readonly [number, number];
}

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const CLIENTS = 16;
const SAMPLE_MS = 2_000;
/** Rows are on their way to the database 50 ms after the answer, later on a busy machine. */
const LOST_BY_KILL_MS = 1_000;

interface Disturbance {
  readonly node: number;
  readonly kind: 'killed' | 'stopped' | 'paused';
  readonly from: number;
  to: number;
}

/**
 * Two gateways on one PostgreSQL database and one Redis, under mixed load, while gateways, servers and upstreams fail in turns.
 * Every request is accounted for: by its client, by the upstream, and by the ledger.
 */
export async function runTwoNodes({ folder, minutes, seed }: TwoNodesInput): Promise<TwoNodesReport> {
  const random = seeded(seed);
  const database = await startPostgres(join(folder, 'postgres'));
  const redis = await startRedis(join(folder, 'redis'));
  const upstream = await startNodesUpstream(seeded(seed + 1));
  const nodes: GatewayNode[] = [];
  let endLoad = async (): Promise<readonly Outcome[]> => [];
  try {
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      STORAGE_ENCRYPTION_KEY: SECRET,
      GATEWAY_LOG_LEVEL: 'warn',
    };
    for (const name of ['one', 'two']) nodes.push(await gatewayNode({ dataDir: join(folder, name), env }));
    const world: World = { database, redis, upstream, nodes, random, disturbances: [], faults: {} };
    const keys = await setUp(world, folder, Math.ceil(minutes * 40));
    endLoad = startLoad(world, keys);
    const sampling = startSampling(nodes[0]);
    const filesBefore = nodes[0]?.openFiles() ?? 0;
    const until = performance.now() + minutes * 60_000;
    while (performance.now() < until) {
      // The first gateway is not restarted after the first quarter, so that what it piles up is seen.
      const only = performance.now() > until - minutes * 45_000 ? 1 : null;
      await disturb(world, only);
      await delay(1_000 + random() * 4_000);
    }
    const outcomes = await endLoad();
    const samples = sampling.end();
    const files = [filesBefore, await filesAtRest(nodes[0])] as const;
    for (const node of nodes) await node.stop();
    return { ...(await judge(world, { outcomes, samples, limit: keys.limit })), files };
  } finally {
    for (const node of nodes) await node.kill();
    await endLoad();
    await Promise.all([database.kill(), redis.kill(), upstream.close()]);
  }
}

interface World {
  readonly database: PrivateBroker;
  readonly redis: PrivateBroker;
  readonly upstream: NodesUpstream;
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

async function setUp({ database, nodes, upstream }: World, folder: string, limit: number): Promise<Keys> {
  const place = { dataDir: join(folder, 'one'), database: database.url, secret: SECRET };
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

/** As a supervisor does: a gateway whose database does not answer yet ends, and is started again. */
async function startAgain(node: GatewayNode, faults: Record<string, number>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await node.start();
    } catch (error) {
      if (tries === 20 || !/does not answer/.test(String(error))) throw error;
      faults['starts without a database'] = (faults['starts without a database'] ?? 0) + 1;
    }
  }
}

/** One thing that goes wrong for a while, and is well again. @param only the gateway that may be restarted; null for either */
async function disturb(world: World, only: number | null): Promise<void> {
  const { database, disturbances, faults, nodes, random, redis } = world;
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

/** The fewest files that a gateway has open in a minute: its idle connections are closed meanwhile. */
async function filesAtRest(node: GatewayNode | undefined): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let second = 0; second < 60; second += 1) {
    fewest = Math.min(fewest, node?.openFiles() ?? fewest);
    await delay(1_000);
  }
  return fewest;
}

interface Samples {
  readonly heap: Sample[];
  readonly resident: Sample[];
  readonly files: Sample[];
}

function startSampling(node: GatewayNode | undefined) {
  const samples: Samples = { heap: [], resident: [], files: [] };
  const sample = async () => {
    const at = performance.now();
    const [files, resident] = [node?.openFiles() ?? null, node?.residentBytes() ?? null];
    if (files !== null) samples.files.push({ at, value: files });
    if (resident !== null) samples.resident.push({ at, value: resident / 1_048_576 });
    const reply = await node?.manage('GET', '/metrics').catch(() => null);
    const [, heap] = /^nodejs_heap_size_used_bytes (\d+)/m.exec(reply?.text ?? '') ?? [];
    if (heap !== undefined) samples.heap.push({ at, value: Number(heap) / 1_048_576 });
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  return {
    end(): Samples {
      clearInterval(timer);
      return samples;
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
): Promise<Omit<TwoNodesReport, 'files'>> {
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
      (one.ending === 'cut' && one.plan.cutAfter === null && !touches(one, ['killed'])) ||
      (one.ending === 'refused' && !touches(one, ['killed', 'stopped', 'paused'], 50)),
  );
  // What was under way when its gateway was killed has not finished.
  const answered = outcomes.filter(
    (one) =>
      one.id !== null &&
      one.id !== '' &&
      (one.ending === 'cut' ? !touches(one, ['killed']) : one.ending !== 'hung'),
  );
  const missing = answered.filter(({ id }) => !byId.has(id ?? ''));
  const byKill = missing.filter((one) => touches(one, ['killed'], LOST_BY_KILL_MS));
  const answers = rows.flatMap(({ upstream_request_id: id }) => (id === null ? [] : [id]));
  const sent = [...upstream.arrivals].filter(([nonce]) => nonce.startsWith('limited-')).length;
  const later = (all: readonly Sample[]) => smallestOfMinutes(all.slice(Math.floor(all.length / 4)));
  const growth = (all: readonly Sample[]) => Math.round(growthInTenMinutes(later(all)) * 10) / 10;
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
    growth: {
      heapMiB: growth(samples.heap),
      residentMiB: growth(samples.resident),
      openFiles: growth(samples.files),
    },
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
