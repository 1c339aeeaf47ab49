import { setTimeout as delay } from 'node:timers/promises';
import type { PrivateBroker } from '../../support/brokers/server-process.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import type { GatewayNode } from '../../support/gateway/gateway-node.ts';
import type { Disturbance, Fault, World } from './world.ts';

/** The longest fault takes a few start-ups of a gateway that waits half a minute for its database. */
const FAULT_LIMIT_MS = 300_000;

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
export async function disturb(world: World, only: number | null): Promise<void> {
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
          async 'worker paused'() {
            const any = Math.floor(random() * nodes.length);
            const workers = (nodes[any] as GatewayNode).pids().slice(1);
            const pid = workers[Math.floor(random() * workers.length)];
            if (pid === undefined) return;
            await during('paused', any, async () => {
              process.kill(pid, 'SIGSTOP');
              await delay(2_000 + random() * 8_000);
              process.kill(pid, 'SIGCONT');
            });
          },
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
  const fault: Fault = { name, from: performance.now(), to: Number.POSITIVE_INFINITY };
  world.timeline.push(fault);
  const limit = new AbortController();
  const late = async () => {
    await delay(FAULT_LIMIT_MS, undefined, { signal: limit.signal });
    throw new Error(`'${name}' at gateway ${index} was not over after ${FAULT_LIMIT_MS / 60_000} minutes`);
  };
  try {
    await Promise.race([kinds[name]?.(), late()]);
  } finally {
    fault.to = performance.now();
    limit.abort();
  }
}
