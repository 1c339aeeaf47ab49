/**
 * Runs every test.   npm test
 * Those beside the sources share one process: starting one for each of their files costs more than many of them take.
 * The others run beside it, each file in a process of its own, because they start gateways, brokers and browsers.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Group {
  name: string;
  files: string[];
  flags: string[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const beside = filesOf('{src,dashboard/src}/**/*.test.ts');
const groups: Group[] = [
  { name: 'beside-sources', files: beside, flags: ['--test-isolation=none'] },
  { name: 'across-folders', files: filesOf('test/**/*.test.ts'), flags: ['--test-concurrency=3'] },
];

const codes = await Promise.all(groups.map(run));
const failed = groups.map((group) => readFileSync(failedPath(group), 'utf8')).join('');
for (const group of groups) rmSync(failedPath(group));
// `npm run test:failed` reads it.
writeFileSync(join(root, 'node_modules/.failed-tests'), failed);
process.exitCode = codes.some((code) => code !== 0) ? 1 : 0;

function filesOf(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).sort();
}

function failedPath({ name }: Group): string {
  return join(root, `node_modules/.failed-tests-${name}`);
}

/** @returns the exit code; 1 for a run that a signal ended */
async function run(group: Group): Promise<number> {
  const flags = [
    '--test',
    '--test-timeout=1200000',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./test/support/failed-files.ts',
    `--test-reporter-destination=${failedPath(group)}`,
  ];
  writeFileSync(failedPath(group), '');
  const child = spawn(process.execPath, [...flags, ...group.flags, ...group.files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TESTED_PROGRAM: 'dist/cli/main.js',
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
    },
  });
  // What the groups print must not be mixed: the first is shown when it has ended.
  const shown: Buffer[] = [];
  const last = group === groups.at(-1);
  child.stdout.on('data', (chunk: Buffer) => {
    if (last) process.stdout.write(chunk);
    else shown.push(chunk);
  });
  const [code] = await once(child, 'close');
  process.stdout.write(Buffer.concat(shown));
  return code ?? 1;
}
