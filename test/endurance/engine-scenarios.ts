import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { startRedis } from '../support/brokers/redis.ts';
import { type Backend, backends } from './backends.ts';
import { runDeadLetterFaults } from './dead-letter-faults.ts';
import { runDuplicates } from './duplicates.ts';
import { runKills } from './kills.ts';
import { runOrder } from './order.ts';
import { runPoison } from './poison.ts';
import { nothingLost, type Scenario } from './scenario.ts';
import { runSlowConsumer } from './slow-consumer.ts';

/** The engine on each durable channel: it is killed and stopped, its receivers are slow, or fail, and its publishers repeat themselves. */

interface Place {
  readonly folder: string;
  /** The address of the channel. */
  readonly channel: string;
  readonly seed: number;
}

interface EngineRun {
  readonly name: string;
  readonly expected: Scenario['expected'];
  run(place: Place): Promise<Readonly<Record<string, unknown>>>;
}

const runs: readonly EngineRun[] = [
  {
    name: 'engine killed 30 times',
    async run({ channel, folder, seed }) {
      const run = { signal: 'SIGKILL', times: 30, perSecond: 2_000, atMost: 1_000 } as const;
      const report = await runKills({ ...run, channel, dataDir: folder, seed });
      return { ...report, repeatedWithinInFlight: report.duplicates <= 30 * 16 };
    },
    expected: { ...nothingLost, deadLetters: 0, repeatedWithinInFlight: true },
  },
  {
    name: 'engine stopped 20 times',
    async run({ channel, folder, seed }) {
      const run = { signal: 'SIGTERM', times: 20, perSecond: 2_000, atMost: 1_000 } as const;
      const report = await runKills({ ...run, channel, dataDir: folder, seed });
      return { ...report, endedInTime: report.longestEndMs <= 30_000 };
    },
    expected: { ...nothingLost, duplicates: 0, deadLetters: 0, endedInTime: true },
  },
  {
    name: 'events published up to five times',
    async run({ channel, folder, seed }) {
      const report = await runDuplicates({ channel, dataDir: folder, events: 3_000, restarts: 5, seed });
      return { ...report.idempotent, published: report.published, each: report.delivered - report.published };
    },
    expected: { ...nothingLost, duplicates: 0 },
  },
  {
    // Events wait in hand for longer than a lease.
    name: 'slow receiver',
    async run({ channel, folder }) {
      const run = { bufferSize: 2_000, answerMs: 500, events: 2_500 };
      const report = await runSlowConsumer({ ...run, channel, dataDir: folder });
      return { ...report, bounded: report.mostHeld <= 2_000, small: report.grownMiB <= 64 };
    },
    expected: { ...nothingLost, duplicates: 0, bounded: true, small: true },
  },
  {
    name: 'one event at a time',
    run: async ({ channel, folder }) => ({ ...(await runOrder({ channel, dataDir: folder, events: 500 })) }),
    expected: { ...nothingLost, duplicates: 0, reordered: 0, mostAtOnce: 1 },
  },
  {
    name: 'receiver that fails, refuses or hangs',
    run: async ({ channel, folder }) => ({
      ...(await runPoison({ channel, dataDir: folder, events: 1_000, hangs: true })),
    }),
    expected: { delivered: 940, deadLetters: 60 },
  },
  {
    name: 'dead letters whose server is killed',
    async run({ channel, folder }) {
      const letters = await startRedis(join(folder, 'letters'));
      try {
        return { ...(await runDeadLetterFaults({ channel, dataDir: folder, letters, events: 200 })) };
      } finally {
        await letters.kill();
      }
    },
    expected: { ...nothingLost, replayed: 400, replayedTwice: 0 },
  },
];

const sqliteScenario = ({ expected, name, run }: EngineRun): Scenario => ({
  name: `${name} (sqlite)`,
  run: (folder, seed) => run({ folder, channel: 'sqlite:', seed }),
  expected,
});

const serverScenario =
  ({ scheme, start }: Backend) =>
  ({ expected, name, run }: EngineRun): Scenario => ({
    name: `${name} (${scheme})`,
    async run(folder, seed) {
      // PostgreSQL runs as another user, who has to reach its folder.
      chmodSync(folder, 0o711);
      const server = await start(join(folder, 'server'));
      try {
        return await run({ folder, channel: server.url, seed });
      } finally {
        await server.stop();
      }
    },
    expected,
  });

export const engineScenarios: readonly Scenario[] = [
  ...runs.map(sqliteScenario),
  ...backends.filter(({ installed }) => installed).flatMap((backend) => runs.map(serverScenario(backend))),
];
