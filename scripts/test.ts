/**
 * Runs all tests, several files in a process where they allow it.   npm test [-- FILE…]
 * Files that are named, and those in folders that are named, run each in a process of its own.
 * Prints what node:test prints and which files took most of the processors, and writes the files in which something failed to `node_modules/.failed-tests`.
 */
import { createWriteStream, globSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { failedFilesReporter } from './testing/failed-files.ts';
import { type TestProcess, testProcesses } from './testing/processes.ts';
import { runTests } from './testing/run-tests.ts';

/** How many files are listed by their processor time. */
const LONGEST = 15;

const root = fileURLToPath(new URL('..', import.meta.url));
const { positionals: paths } = parseArgs({ allowPositionals: true });
const named = paths.flatMap((path) =>
  statSync(path).isDirectory() ? globSync(join(path, '**/*.test.ts')).sort() : [path],
);

const { events, shared, times } = runTests({
  root,
  processes:
    paths.length > 0
      ? named.map((file): TestProcess => ({ kind: 'alone', file: relative(root, resolve(file)) }))
      : testProcesses(globSync('{src,test,dashboard/src}/**/*.test.ts', { cwd: root }).sort()),
  // More than there are cores: many tests wait.
  concurrency: 4,
  limitMs: 1_200_000,
  closingMs: 120_000,
});
events.on('test:fail', () => {
  process.exitCode = 1;
});
events.compose(failedFilesReporter(shared)).pipe(createWriteStream(join(root, 'node_modules/.failed-tests')));
events.compose(spec).pipe(process.stdout);

process.once('beforeExit', () => {
  const all = times();
  const sum = all.reduce((seconds, one) => seconds + one.seconds, 0);
  if (all.length < 2) return;
  console.log(`ℹ processor time ${sum.toFixed(0)} s, most of it:`);
  for (const { file, seconds } of all.slice(0, LONGEST)) {
    const files = shared.get(file);
    const name = files === undefined ? relative(root, file) : `${files[0]} and ${files.length - 1} more`;
    console.log(`ℹ ${seconds.toFixed(1).padStart(7)} s ${name}`);
  }
});
