import { parseArgs } from 'node:util';
import { cesqlFuzz } from '../test/support/events/fuzz-cesql.ts';
import { answerFuzz, type Fuzz, formats, requestFuzz } from '../test/support/formats/fuzz.ts';

/**
 * Damages requests and answers of every format, and reports the first that makes the translation break its word. The
 * format `cesql` are expressions, damaged and random, which nothing may throw at.
 *
 *     node scripts/fuzz.ts [--runs N] [--seed S] [--format F]
 *
 * Run N with seed S is the run of the seed S + N: a report names the seed that repeats it alone, with --runs 1.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    seed: { type: 'string' },
    format: { type: 'string' },
  },
});
const runs = wholeNumber('runs', values.runs);
const first = values.seed === undefined ? Date.now() % 2 ** 31 : wholeNumber('seed', values.seed);
const chosen = formats.filter((format) => values.format === undefined || format === values.format);
const expressions = values.format === undefined || values.format === 'cesql';
if (chosen.length === 0 && !expressions) fail(`--format must be one of ${formats.join(', ')}, cesql`);

/** No input is long enough to take so many microseconds. */
const MOST_CPU_US = 5_000_000;

process.stdout.write(`seed ${first}, ${runs} runs each\n`);
for (const format of chosen) {
  fuzz(`${format} requests`, requestFuzz(format));
  fuzz(`${format} answers`, answerFuzz(format));
}
if (expressions) fuzz('cesql expressions', cesqlFuzz());

function fuzz(name: string, { input, run }: Fuzz): void {
  const counts = new Map<string, number>();
  const began = performance.now();
  for (let turn = 0; turn < runs; turn += 1) {
    const seed = first + turn;
    try {
      const begunAt = process.cpuUsage();
      const result = run(seed);
      const { system, user } = process.cpuUsage(begunAt);
      if (system + user > MOST_CPU_US) throw new Error(`took ${(system + user) / 1e6} s of CPU`);
      counts.set(result, (counts.get(result) ?? 0) + 1);
    } catch (error) {
      const text = input(seed);
      const shown = text.length > 4_000 ? `${text.slice(0, 4_000)}… (${text.length} characters)` : text;
      process.stdout.write(`\n${name}: seed ${seed}\n${shown}\n${(error as Error).stack}\n`);
      process.exitCode = 1;
      return;
    }
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const results = [...counts].map(([result, count]) => `${result} ${count}`).join(', ');
  process.stdout.write(`${name}: ${results} (${seconds} s)\n`);
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) fail(`--${name} must be a whole number, not "${text}"`);
  return value;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
