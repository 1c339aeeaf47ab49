/**
 * What the model catalogue adds to a cold start and to idle memory: the built program with its data against a copy of it
 * whose data set and provider directory are empty, started in turn.
 *   node scripts/build.ts && node bench/catalog-start.ts [ROUNDS]
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findGateway, setUpGateway } from './gateway.ts';
import { canPin, root, startSubject } from './subject.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const rounds = Number(positionals[0] ?? 11);
/** How long a gateway is left alone before its memory is read. */
const IDLE_MS = 2_000;

const gateway = findGateway('dist');
if (gateway === null) throw new Error('dist/ is not built: run node scripts/build.ts first');

// Beside dist/, so that the packages are found.
const bare = mkdtempSync(join(root, 'dist-without-catalogue-'));
try {
  cpSync(join(root, 'dist'), bare, { recursive: true });
  writeFileSync(join(bare, 'providers', 'directory.gen.json'), '[]\n');
  const models = join(bare, 'catalog', 'models.gen.json');
  const { head } = JSON.parse(readFileSync(models, 'utf8')) as { head: object };
  writeFileSync(models, `{"head":${JSON.stringify(head)},"providers":{\n}}\n`);
  const sides = [
    { name: 'with the catalogue', script: gateway.script },
    { name: 'without', script: join(bare, 'cli', 'main.js') },
  ];
  const pin = canPin();
  const setups = [];
  for (const { name, script } of sides) {
    const setup = await setUpGateway({ from: 'dist', script }, { upstreamPort: 9, plans: [], core: 0 });
    setups.push({ name, setup, ready: [] as number[], cpu: [] as number[], rss: [] as number[] });
  }
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const side of round % 2 === 0 ? setups : setups.toReversed()) {
        const subject = await startSubject(side.setup.next(), pin);
        side.ready.push(subject.readyMs);
        side.cpu.push((await subject.cpu()) / 1_000);
        await delay(IDLE_MS);
        side.rss.push((await subject.rss()) / 1e6);
        await subject.stop();
      }
  } finally {
    for (const { setup } of setups) setup.remove();
  }
  for (const { cpu, name, ready, rss } of setups)
    console.log(
      `${name}: ready after ${median(ready).toFixed(0)} ms (${median(cpu).toFixed(0)} ms of CPU), ${median(rss).toFixed(1)} MB when idle`,
    );
  const [first, second] = setups;
  if (first !== undefined && second !== undefined)
    console.log(
      `the catalogue adds ${(median(first.cpu) - median(second.cpu)).toFixed(1)} ms of CPU and ${(median(first.rss) - median(second.rss)).toFixed(2)} MB (medians of ${rounds} starts each)`,
    );
} finally {
  rmSync(bare, { recursive: true, force: true });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}
