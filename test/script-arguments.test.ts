import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importGraph } from '../scripts/changed/import-graph.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Programs that need not parse their arguments, and files that may read `process.argv`, each with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'bench/load.ts': 'gets its work over IPC',
  'bench/management.ts': 'passes its arguments on to its thread, after it has parsed them',
  'bench/passthrough.ts': 'is measured, so that it loads nothing that it does not need',
  'scripts/testing/end-process.ts': 'names the file that a process runs',
  'scripts/testing/processor-time.ts': 'names the file that a process runs',
};

/** The files of `scripts/` and `bench/` that no other file there imports. */
function programs(): string[] {
  const graph = importGraph(root, globSync('{scripts,bench}/**/*.ts', { cwd: root }));
  const imported = new Set([...graph.values()].flat());
  return [...graph.keys()].filter((file) => /^\w+\/[\w-]+\.ts$/.test(file) && !imported.has(file));
}

/** Runs a script with a flag that no script has. */
function runWithUnknownFlag(script: string) {
  return spawnSync(process.execPath, [join(root, script), '--nonsense'], { cwd: root, encoding: 'utf8' });
}

describe('a script', () => {
  it('parses its arguments with parseArgs, which refuses unknown flags', () => {
    const all = globSync('{scripts,bench}/**/*.ts', { cwd: root });
    assert.deepEqual(
      all.filter((file) => textOf(file).includes('process.argv') && !Object.hasOwn(exceptions, file)),
      [],
    );
    assert.ok(programs().length > 20, `${programs().length} programs`);
    assert.deepEqual(
      programs().filter((file) => !textOf(file).includes('parseArgs(') && !Object.hasOwn(exceptions, file)),
      [],
    );
  });

  for (const script of ['scripts/pages.ts', 'scripts/check-regexes.ts'])
    it(`fails with an unknown flag, and names it: ${script}`, () => {
      const { status, stderr } = runWithUnknownFlag(script);
      assert.notEqual(status, 0);
      assert.match(stderr, /--nonsense/);
    });
});
