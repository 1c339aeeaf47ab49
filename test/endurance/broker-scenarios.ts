import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { ChannelScheme } from '../../src/events/config/config.ts';
import { hasNats, startNats } from '../support/brokers/nats.ts';
import { hasPostgres, startPostgres } from '../support/brokers/postgres.ts';
import { hasRedis, startRedis } from '../support/brokers/redis.ts';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { runBrokerFaults } from './broker-faults.ts';
import type { Scenario } from './run.ts';

/** Brokers that are ended, or that stop answering, under load. */

export interface BrokerKind {
  readonly scheme: ChannelScheme;
  readonly installed: boolean;
  /** @param folder keeps the data of the server */
  start(folder: string): Promise<PrivateBroker>;
}

export const brokerKinds: readonly BrokerKind[] = [
  { scheme: 'nats', installed: hasNats, start: startNats },
  { scheme: 'redis', installed: hasRedis, start: startRedis },
  { scheme: 'postgres', installed: hasPostgres, start: startPostgres },
];

const scenarioOf = ({ scheme, start }: BrokerKind, fault: 'kill' | 'pause'): Scenario => ({
  name: fault === 'kill' ? `${scheme} killed 10 times` : `${scheme} silent for a minute, twice`,
  async run(folder, seed) {
    // PostgreSQL runs as another user, who has to reach its folder.
    chmodSync(folder, 0o711);
    const server = await start(join(folder, 'server'));
    try {
      const times = fault === 'kill' ? 10 : 2;
      const run = { scheme, server, fault, pauseMs: 60_000, times, atMost: 10_000, seed } as const;
      const report = await runBrokerFaults({ ...run, dataDir: folder });
      return {
        ...report,
        resumedInTime: report.longestResumeMs <= 5_000,
        memoryBounded: report.grownMiB <= 256,
      };
    } finally {
      await server.kill();
    }
  },
  expected: { lost: 0, phantoms: 0, corrupt: 0, resumedInTime: true, memoryBounded: true },
});

export const brokerScenarios: readonly Scenario[] = brokerKinds
  .filter(({ installed }) => installed)
  .flatMap((kind) =>
    // SIGSTOP of PostgreSQL's first process leaves those that serve connections.
    kind.scheme === 'postgres'
      ? [scenarioOf(kind, 'kill')]
      : [scenarioOf(kind, 'kill'), scenarioOf(kind, 'pause')],
  );
