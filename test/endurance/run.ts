import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startNats } from '../support/brokers/nats.ts';
import { startPostgres } from '../support/brokers/postgres.ts';
import { checkBreaker } from '../support/routing/breaker-check.ts';
import { backends } from './backends.ts';
import { brokerScenarios } from './broker-scenarios.ts';
import { engineScenarios } from './engine-scenarios.ts';
import { fullDiskScenarios } from './full-disk-scenarios.ts';
import { serverQueue, sqliteQueue } from './kill-point-queues.ts';
import { runKillPoints } from './kill-points.ts';
import { runTwoNodes } from './nodes/two-nodes.ts';
import { queueScenarios } from './queue-scenarios.ts';
import { runReloads } from './reloads.ts';
import { nothingLost, type Scenario } from './scenario.ts';
import { runSoak } from './soak.ts';

/**
 * The long runs, one after the other: `npm run test:endurance`, or with the names of some. Each prints what it counted, and fails
 * when that is not what it says. `--seed N` or `SEED=N` repeats a run, `--minutes N` sets how long `two-nodes` takes, `--workers N` how many
 * processes serve the models of each, and
 * `SOAK_MINUTES=N` shortens the longest.
 */

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '1' },
  },
});
const soakMinutes = Number(process.env['SOAK_MINUTES'] ?? 60);
const nodeMinutes = Number(values.minutes);

const scenarios: readonly Scenario[] = [
  {
    name: 'engine ended at every step (sqlite)',
    run: (folder) =>
      runKillPoints(folder, sqliteQueue, () => true).then((report) => ({ ...report, done: true })),
    expected: { done: true },
  },
  ...backends
    .filter(({ installed }) => installed)
    .map(
      ({ scheme, start }): Scenario => ({
        name: `engine ended at every step (${scheme})`,
        async run(folder) {
          // PostgreSQL runs as another user, who has to reach its folder.
          chmodSync(folder, 0o711);
          const server = await start(join(folder, 'server'));
          try {
            const report = await runKillPoints(folder, serverQueue(scheme, server), () => true);
            return { ...report, done: true };
          } finally {
            await server.stop();
          }
        },
        expected: { done: true },
      }),
    ),
  {
    name: 'circuit breaker',
    async run() {
      checkBreaker(50_000);
      return { sequences: 50_000 };
    },
    expected: { sequences: 50_000 },
  },
  ...engineScenarios,
  ...brokerScenarios,
  ...queueScenarios,
  ...fullDiskScenarios,
  {
    name: `faults of all kinds for ${soakMinutes} minutes (nats and postgres)`,
    async run(folder, seed) {
      // PostgreSQL runs as another user, who has to reach its folder.
      chmodSync(folder, 0o711);
      const servers = [await startNats(join(folder, 'nats')), await startPostgres(join(folder, 'postgres'))];
      const run = { servers, minutes: soakMinutes, perSecond: 100 };
      const report = await runSoak({ ...run, dataDir: folder, seed });
      await Promise.all(servers.map((server) => server.kill()));
      return {
        ...report,
        memorySteady: report.memoryGrowthMiB <= 1,
        filesSteady: report.openFilesGrowth <= 1,
      };
    },
    expected: { ...nothingLost, duplicates: 0, memorySteady: true, filesSteady: true },
  },
  {
    name: 'another configuration every 500 ms for 5 minutes',
    run: async (folder, seed) => {
      const run = { reloads: 600, everyMs: 500, perSecond: 2_000 } as const;
      return { ...(await runReloads({ ...run, dataDir: folder, seed })) };
    },
    expected: { ...nothingLost, duplicates: 0 },
  },
  {
    name: `two-nodes on one database, with faults of all kinds for ${nodeMinutes} minutes`,
    async run(folder, seed) {
      // PostgreSQL runs as another user, who has to reach its folder.
      chmodSync(folder, 0o711);
      const report = await runTwoNodes({
        folder,
        minutes: nodeMinutes,
        seed,
        workers: Number(values.workers),
        progress: (line) => console.error(line),
      });
      const {
        budget,
        events,
        heapGrowthMiB,
        processes,
        missing,
        missingByKill,
        otherOutcome,
        repeated,
        unexplained,
        wrong,
      } = report;
      return {
        ...report,
        wrongAnswers: wrong.length,
        unexplainedEnds: unexplained.length,
        lostRows: missing + missingByKill,
        lostEvents: events.lost,
        repeatedEvents: repeated.length,
        otherOutcomes: otherOutcome.length,
        overspent: budget.overspent,
        // At most eleven connections to the database and three files of the outbox come with the load.
        filesSteady: processes.every(({ files: [before, after] }) => after <= before + 16),
        // Of a short run the first minutes are most of it, in which memory is still being filled.
        memorySteady:
          nodeMinutes < 10 ||
          (heapGrowthMiB <= 3 &&
            // The heap of the first process may keep more free than that.
            processes.slice(1).every(({ residentGrowthMiB }) => residentGrowthMiB <= 16)),
      };
    },
    expected: {
      wrongAnswers: 0,
      unexplainedEnds: 0,
      lostRows: 0,
      lostEvents: 0,
      repeatedEvents: 0,
      otherOutcomes: 0,
      doubledRows: 0,
      sentTwice: 0,
      overspent: 0,
      filesSteady: true,
      memorySteady: true,
    },
  },
];

// What a run has mounted is taken away again.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const seed = Number(values.seed ?? process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
let failed = false;
for (const { expected, name, run } of scenarios) {
  if (names.length > 0 && !names.some((one) => name.includes(one))) continue;
  const folder = mkdtempSync(join(tmpdir(), 'modelgate-endurance-'));
  const begun = performance.now();
  try {
    const report = await run(folder, seed);
    const wrong = Object.entries(expected).filter(([key, value]) => report[key] !== value);
    failed ||= wrong.length > 0;
    const seconds = Math.round((performance.now() - begun) / 1_000);
    console.log(`${wrong.length === 0 ? 'ok' : 'FAILED'}  ${name} (seed ${seed}, ${seconds} s)`);
    console.log(`    ${JSON.stringify(report)}`);
    for (const [key, value] of wrong) console.log(`    ${key} should be ${JSON.stringify(value)}`);
  } catch (error) {
    failed = true;
    console.log(`FAILED  ${name} (seed ${seed})`, error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;
