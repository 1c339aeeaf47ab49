import { getHeapStatistics } from 'node:v8';
import { startEngine } from '../support/events/event-engine.ts';
import { numbered } from './ledger.ts';

/**
 * An engine in a process of its own, that can be killed. It publishes the events of a source one after the other, and writes a
 * line for each that was accepted. SIGUSR2 ends the publishing, SIGTERM the engine. After SIGHUP it writes what memory it holds, in
 * bytes: of JavaScript, and of everything else; it needs --expose-gc for that.
 */

export interface EngineProcess {
  readonly dataDir: string;
  readonly yaml: string;
  /** The source of the configuration, and of the events. */
  readonly source: string;
  /** The number of the first event. */
  readonly first: number;
  readonly perSecond: number;
  /** Where gateways remember together what was handled. */
  readonly sharedDatabase?: string;
}

const TICK_MS = 5;

const { dataDir, first, perSecond, sharedDatabase, source, yaml }: EngineProcess = JSON.parse(
  process.argv[2] ?? '{}',
);
const engine = await startEngine(dataDir, yaml, { sharedDatabase: sharedDatabase ?? null });
let next = first;
let owed = 0;
const publishing = new Set<Promise<void>>();
const publish = async (number: number) => {
  const result = await engine.publish(source, numbered(source, number));
  if (result?.kind === 'accepted') process.stdout.write(`accepted ${number}\n`);
};
const timer = setInterval(() => {
  owed += (perSecond * TICK_MS) / 1_000;
  for (; owed >= 1; owed -= 1) {
    const published = publish(next).finally(() => publishing.delete(published));
    publishing.add(published);
    next += 1;
    // Whoever started this knows up to where events may have been sent.
    if (next % 100 === 0) process.stdout.write(`sent ${next + 100}\n`);
  }
}, TICK_MS);
process.on('SIGHUP', () => {
  globalThis.gc?.();
  const { external, heapUsed, rss } = process.memoryUsage();
  const native = rss - getHeapStatistics().total_physical_size;
  process.stdout.write(`memory ${heapUsed + external} ${native}\n`);
});
process.on('SIGUSR2', () => clearInterval(timer));
process.on('SIGTERM', async () => {
  clearInterval(timer);
  await Promise.all(publishing);
  await engine.close();
  process.exit(0);
});
process.stdout.write('started\n');
