import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBreaker } from '../support/breaker-check.ts';
import { brokerScenarios } from './broker-scenarios.ts';
import { runDuplicates } from './duplicates.ts';
import { runKillPoints } from './kill-points.ts';
import { runKills } from './kills.ts';
import { queueScenarios } from './queue-scenarios.ts';
import { runReloads } from './reloads.ts';
import { runSlowConsumer } from './slow-consumer.ts';

/**
 * The long runs of the event engine, one after the other: `npm run test:endurance`, or with the names of some. Each prints what it
 * counted, and fails when that is not what it says. `SEED=N` repeats a run.
 */

export interface Scenario {
  readonly name: string;
  /** @returns what was counted. @param folder empty, and removed afterwards */
  run(folder: string, seed: number): Promise<Readonly<Record<string, unknown>>>;
  /** What has to be counted. Anything else is a failure. */
  readonly expected: Readonly<Record<string, unknown>>;
}

const nothingLost = { lost: 0, phantoms: 0, corrupt: 0 };

const scenarios: readonly Scenario[] = [
  {
    name: 'killed 30 times',
    run: async (folder, seed) => {
      const run = { signal: 'SIGKILL', times: 30, perSecond: 2_000, atMost: 4_000 } as const;
      const report = await runKills({ ...run, dataDir: folder, seed });
      return { ...report, repeatedWithinInFlight: report.duplicates <= 30 * 16 };
    },
    expected: { ...nothingLost, deadLetters: 0, repeatedWithinInFlight: true },
  },
  {
    name: 'stopped 20 times',
    run: async (folder, seed) => {
      const run = { signal: 'SIGTERM', times: 20, perSecond: 2_000, atMost: 4_000 } as const;
      const report = await runKills({ ...run, dataDir: folder, seed });
      return { ...report, endedInTime: report.longestEndMs <= 30_000 };
    },
    expected: { ...nothingLost, duplicates: 0, deadLetters: 0, endedInTime: true },
  },
  {
    name: 'duplicates',
    run: async (folder, seed) => {
      const report = await runDuplicates({ dataDir: folder, events: 3_000, restarts: 5, seed });
      return { ...report.idempotent, published: report.published, each: report.delivered - report.published };
    },
    expected: { ...nothingLost, duplicates: 0, each: 0 },
  },
  {
    name: 'ended at every step',
    run: (folder) => runKillPoints(folder, () => true).then((report) => ({ ...report, done: true })),
    expected: { done: true },
  },
  {
    // Events wait in hand for about a minute, twice as long as a lease.
    name: 'slow consumer',
    run: async (folder) => {
      const run = { bufferSize: 2_000, answerMs: 500, events: 5_000 };
      const report = await runSlowConsumer({ ...run, dataDir: folder });
      return { ...report, bounded: report.mostHeld <= 2_000, small: report.grownMiB <= 64 };
    },
    expected: { ...nothingLost, duplicates: 0, bounded: true, small: true },
  },
  {
    name: 'circuit breaker',
    async run() {
      checkBreaker(50_000);
      return { sequences: 50_000 };
    },
    expected: { sequences: 50_000 },
  },
  ...brokerScenarios,
  ...queueScenarios,
  {
    name: 'another configuration every 500 ms for 5 minutes',
    run: async (folder, seed) => {
      const run = { reloads: 600, everyMs: 500, perSecond: 2_000 } as const;
      return { ...(await runReloads({ ...run, dataDir: folder, seed })) };
    },
    expected: { ...nothingLost, duplicates: 0 },
  },
];

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
const names = process.argv.slice(2);
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
