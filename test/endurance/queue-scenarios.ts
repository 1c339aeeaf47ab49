import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startKafka } from '../support/brokers/kafka.ts';
import { startMosquitto } from '../support/brokers/mosquitto.ts';
import { startNats } from '../support/brokers/nats.ts';
import { startRabbitmq } from '../support/brokers/rabbitmq.ts';
import { runCrashLoop } from './crash-loops.ts';
import { runQueueFaults } from './queue-faults.ts';
import { nothingLost, type Scenario } from './scenario.ts';

/** Message queues that are killed or stopped while events wait in them. */

/** NATS and Kafka wait until a gateway is surely dead, so that theirs take minutes. */
const crashingOn: Readonly<
  Record<string, (folder: string) => Promise<{ url: string; kill(): Promise<void> }>>
> = {
  nats: startNats,
  rabbitmq: startRabbitmq,
  mosquitto: (folder) => startMosquitto(folder, []),
  kafka: startKafka,
};

export const queueScenarios: readonly Scenario[] = [
  {
    name: 'rabbitmq killed',
    async run(folder) {
      const server = await startRabbitmq(join(folder, 'rabbitmq'));
      const fault = async () => {
        await server.keeps('killed.reader');
        await server.kill();
        await server.start();
      };
      const queue = { scheme: 'amqp', url: server.url, topic: 'killed' } as const;
      const report = await runQueueFaults({ ...queue, dataDir: folder, events: 10_000, fault });
      await server.stop();
      return { ...report, resumedInTime: report.resumedAfterMs <= 5_000 };
    },
    expected: { ...nothingLost, resumedInTime: true },
  },
  {
    name: 'mosquitto killed',
    run: (folder) => killMosquitto(folder, []),
    // It loses what waits: how much is what the run shows.
    expected: { phantoms: 0, corrupt: 0 },
  },
  {
    name: 'mosquitto killed, saving at once',
    run: (folder) =>
      killMosquitto(folder, ['autosave_interval 1', 'autosave_on_changes true', 'max_queued_messages 0']),
    expected: { phantoms: 0, corrupt: 0 },
  },
  {
    name: 'kafka stopped for a minute',
    async run(folder) {
      const server = await startKafka();
      const fault = async () => {
        server.pause();
        await delay(60_000);
        server.resume();
      };
      const queue = { scheme: 'kafka', url: `${server.url}?partition_by=source`, topic: 'stopped' } as const;
      const report = await runQueueFaults({ ...queue, dataDir: folder, events: 5_000, fault });
      await server.kill();
      return { ...report };
    },
    expected: nothingLost,
  },
  ...Object.entries(crashingOn).map(
    ([name, start]): Scenario => ({
      name: `an event that ends the process, on ${name}`,
      async run(folder) {
        const server = await start(join(folder, 'server'));
        const report = await runCrashLoop(join(folder, 'data'), server.url);
        await server.kill();
        return { ...report, deadLetters: report.deadLetters.length };
      },
      expected: { crashes: 5, attempts: 5, deadLetters: 1, lost: 0 },
    }),
  ),
];

async function killMosquitto(folder: string, settings: readonly string[]) {
  const server = await startMosquitto(join(folder, 'mosquitto'), settings);
  const fault = async () => {
    await server.kill();
    await server.start();
  };
  const queue = { scheme: 'mqtt', url: server.url, topic: 'killed' } as const;
  const report = await runQueueFaults({ ...queue, dataDir: folder, events: 900, fault });
  await server.stop();
  return { ...report };
}
