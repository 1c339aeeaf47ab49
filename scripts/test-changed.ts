/**
 * Runs the tests that a change touches.   npm run test:changed [-- REF] [-- --list]
 * What is different is what is not committed, and what was committed since REF: by default since the branch left `main`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { importGraph } from './changed/import-graph.ts';
import { testsOf } from './changed/select-tests.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false } },
});

const changed = changedSince(positionals[0] ?? branchPoint());
const files = globSync('{src,test,scripts,bench,dashboard/src}/**/*.{ts,tsx}', { cwd: root });
const tests = files.filter((file) => /^(?:src|test|dashboard\/src)\/.*\.test\.ts$/.test(file)).sort();
const selected = testsOf({ changed, graph: importGraph(root, files), tests });

console.error(`${changed.length} files changed: ${selected.length} of ${tests.length} test files`);
if (values.list) for (const test of selected) console.log(test);
else if (selected.length > 0) {
  const flags = ['--test', '--test-concurrency=2', '--test-timeout=1200000', ...selected];
  const cache = join(root, 'node_modules/.cache/compiled');
  const { status } = spawnSync(process.execPath, flags, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  process.exitCode = status ?? 1;
}

/** The commit in which this branch left `main`, or HEAD where there is no `main`: then only what is not committed counts. */
function branchPoint(): string {
  for (const main of ['origin/main', 'main']) {
    const { status, stdout } = spawnSync('git', ['merge-base', 'HEAD', main], {
      cwd: root,
      encoding: 'utf8',
    });
    if (status === 0) return stdout.trim();
  }
  return 'HEAD';
}

function changedSince(ref: string): string[] {
  const lines = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  return [
    ...lines('diff', '--name-only', '--no-renames', '-z', ref, '--'),
    ...lines('ls-files', '--others', '--exclude-standard', '-z'),
  ];
}
