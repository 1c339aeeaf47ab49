import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { type Backend, backends, type StoppableBroker } from './backends.ts';
import { runBrokerFaults } from './broker-faults.ts';
import { type NetworkFault, runNetworkFault } from './network-faults.ts';
import { nothingLost, type Scenario } from './scenario.ts';

/** Servers that are killed under load, or do not answer, or answer late, or are cut off. */

interface ServerRun {
  readonly name: string;
  run(
    backend: Backend,
    server: StoppableBroker,
    folder: string,
    seed: number,
  ): Promise<Readonly<Record<string, unknown>>>;
  readonly expected: Scenario['expected'];
}

const killed: ServerRun = {
  name: 'server killed 10 times',
  async run({ scheme }, server, folder, seed) {
    const run = { scheme, server, times: 10, atMost: 10_000, seed } as const;
    const report = await runBrokerFaults({ ...run, dataDir: folder });
    return {
      ...report,
      resumedInTime: report.longestResumeMs <= 5_000,
      memoryBounded: report.grownMiB <= 256,
    };
  },
  expected: { ...nothingLost, resumedInTime: true, memoryBounded: true },
};

const faults: readonly { readonly fault: NetworkFault; readonly name: string }[] = [
  { fault: 'stopped', name: 'server stopped for a minute' },
  { fault: 'cut', name: 'network cut for a minute' },
  { fault: 'half-open', name: 'connections that are silent for a minute' },
  { fault: 'slow', name: 'round trips of 200 ms for a minute' },
];

const disturbed = faults.map(
  ({ fault, name }): ServerRun => ({
    name,
    async run(_, server, folder) {
      const run = { fault, faultMs: 60_000, perSecond: 500 };
      const report = await runNetworkFault({ ...run, server, dataDir: folder });
      return { ...report, memoryBounded: report.grownMiB <= 64 };
    },
    expected: { ...nothingLost, duplicates: 0, memoryBounded: true },
  }),
);

/** RabbitMQ's files have to be waited for before it is killed: see queue-scenarios.ts. */
const runsOf = ({ scheme }: Backend): readonly ServerRun[] =>
  scheme === 'amqp' ? disturbed : [killed, ...disturbed];

export const brokerScenarios: readonly Scenario[] = backends
  .filter(({ installed }) => installed)
  .flatMap((backend) =>
    runsOf(backend).map(
      ({ expected, name, run }): Scenario => ({
        name: `${name} (${backend.scheme})`,
        async run(folder, seed) {
          // PostgreSQL runs as another user, who has to reach its folder.
          chmodSync(folder, 0o711);
          const server = await backend.start(join(folder, 'server'));
          try {
            return await run(backend, server, folder, seed);
          } finally {
            await server.stop();
          }
        },
        expected,
      }),
    ),
  );
