import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startNats } from '../../support/brokers/nats.ts';
import { startPostgres } from '../../support/brokers/postgres.ts';
import { startRedis } from '../../support/brokers/redis.ts';
import { exchange } from '../../support/clients/client.ts';
import { addConnections, addKey } from '../../support/gateway/data-dir.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { type GatewayNode, gatewayNode, usedBy } from '../../support/gateway/gateway-node.ts';
import { seeded } from '../ledger.ts';
import { startNodesEvents } from './events.ts';
import { disturb } from './faults.ts';
import { judge, judgeRepeats } from './judgement.ts';
import { type Load, startLoad } from './load.ts';
import { type Network, openNetwork } from './network.ts';
import type { TwoNodesReport } from './report.ts';
import { openStallingDisk } from './stalling-disk.ts';
import { startNodesUpstream } from './upstream.ts';
import { memoryTable, processReports, startSampling } from './usage.ts';
import type { Keys, World } from './world.ts';

export interface TwoNodesInput {
  readonly folder: string;
  readonly minutes: number;
  readonly seed: number;
  /** Processes that serve the model endpoints of each gateway. */
  readonly workers: number;
  /** Hears once a minute how far the run is. */
  progress(line: string): void;
}

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
/** Longer than a gateway that was killed keeps others from its events, also if the database still has its connection. */
const EVENTS_QUIET_MS = 90_000;

/**
 * Two gateways on one PostgreSQL database and one Redis, under mixed load, while gateways, servers and upstreams fail in turns.
 * Every request is accounted for: by its client, by the upstream, and by the ledger.
 */
export async function runTwoNodes({
  folder,
  minutes,
  progress,
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
  let load: Load | null = null;
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
    const world: World = { ...servers, nodes, random, disturbances: [], faults: {}, timeline: [] };
    const keys = await setUp(world, Math.ceil(minutes * 100));
    const filesBefore = (nodes[0]?.pids() ?? []).map((pid) => usedBy(pid)?.openFiles ?? 0);
    const clients = startLoad(world, keys);
    load = clients;
    events.begin(nodes);
    const sampling = startSampling(nodes[0]);
    const begun = performance.now();
    const until = begun + minutes * 60_000;
    let toldMinute = 0;
    const tell = (): void => {
      const minute = Math.floor((performance.now() - begun) / 60_000);
      if (minute === toldMinute) return;
      toldMinute = minute;
      progress(
        `minute ${minute} of ${minutes}: ${clients.count()} requests, ${JSON.stringify(world.faults)}`,
      );
    };
    while (performance.now() < until) {
      // The first gateway is not restarted after the first quarter, so that what it piles up is seen.
      const only = performance.now() > until - minutes * 45_000 ? 1 : null;
      await disturb(world, only);
      tell();
      await delay(1_000 + random() * 4_000);
    }
    const outcomes = await clients.end();
    const samples = sampling.end();
    const delivered = await events.end(EVENTS_QUIET_MS);
    const processes = await processReports(nodes[0], filesBefore, samples);
    const table = memoryTable(nodes[0]?.pids()[0], samples);
    for (const node of nodes) await node.stop();
    return {
      ...(await judge(world, { outcomes, samples, limit: keys.limit })),
      processes,
      memory: table,
      events: delivered,
      ...judgeRepeats(world, events.repeated()),
    };
  } catch (error) {
    const logs = nodes.map((node, index) => `gateway ${index}: ${node.log().slice(-4_000)}`);
    throw new Error(`${error instanceof Error ? error.message : error}\n${logs.join('\n')}`, {
      cause: error,
    });
  } finally {
    disk?.resume();
    for (const node of nodes) await node.kill();
    await load?.end();
    await events.end(0);
    await Promise.all([database.kill(), redis.kill(), nats.kill(), upstream.close(), events.close()]);
    for (const network of networks) await network.close();
    disk?.close();
  }
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
  // Each connection may reach another worker, and a change reaches the other gateway's within a second.
  await waitFor('the combo at the other gateway', async () => {
    const ask = { method: 'GET', path: '/v1/models', headers: bearer(open) };
    const replies = await Promise.all(Array.from({ length: 16 }, () => exchange(nodes[1]?.port ?? 0, ask)));
    return replies.every(({ text }) => text.includes('"mix"'));
  });
  return { open, limited, limit };
}
