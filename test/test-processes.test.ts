import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ALONE, testProcesses } from '../scripts/testing/processes.ts';
import { temporaryFolder } from './support/machine/folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const testing = new URL('../scripts/testing', import.meta.url).href;

/** Test files by name, as text; each may use `assert`, `it`, hooks and `createServer`. */
type Files = Readonly<Record<string, string>>;

/** Runs the files, the first two of them in one process. @returns what `npm test` prints and writes */
function outcomeOf(test: TestContext, files: Files) {
  const folder = temporaryFolder(test);
  const head = `import assert from 'node:assert/strict';
    import { createServer } from 'node:net';
    import { after, beforeEach, it } from 'node:test';\n`;
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), head + text);
  const [one = '', two = '', ...alone] = Object.keys(files);
  const processes = [
    { kind: 'shared', files: [one, two] },
    ...alone.map((file) => ({ kind: 'alone', file })),
  ];
  const script = `
    import { failedFilesReporter } from '${testing}/failed-files.ts';
    import { runTests } from '${testing}/run-tests.ts';
    const run = { root: process.cwd(), processes: ${JSON.stringify(processes)} };
    const { events, shared } = runTests({ ...run, concurrency: 2, limitMs: 300_000, closingMs: 500 });
    const passed = [];
    events.on('test:pass', ({ name, details }) => {
      if (details.type !== 'suite') passed.push(name);
    });
    let failed = '';
    for await (const line of events.compose(failedFilesReporter(shared))) failed += line;
    console.log(JSON.stringify({ passed: passed.sort(), failed: failed.trim().split('\\n').sort() }));`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  writeFileSync(join(folder, 'run.mts'), script);
  const { stdout, stderr } = spawnSync(process.execPath, ['run.mts'], { cwd: folder, env, encoding: 'utf8' });
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as { passed: string[]; failed: string[] };
}

describe('the tests', () => {
  it('run once each, and those that run alone are there', () => {
    const files = globSync('{src,test,dashboard/src}/**/*.test.ts', { cwd: root }).sort();
    const processes = testProcesses(files);
    const run = processes.flatMap((one) => (one.kind === 'alone' ? [one.file] : one.files));
    assert.deepEqual(run.toSorted(), files);
    for (const file of Object.keys(ALONE)) assert.ok(files.includes(file), file);
    const shared = processes.flatMap((one) => (one.kind === 'shared' ? one.files : []));
    const programs = shared.filter((file) => file.startsWith('test/e2e/') || file in ALONE);
    assert.deepEqual(programs, []);
    assert.ok(shared.length > 300, 'most files of src/ share a process');
  });

  it('that share a process have hooks of their own', (test) => {
    const outcome = outcomeOf(test, {
      'one.test.ts': `let runs = 0; beforeEach(() => { runs += 1; }); it('one', () => assert.equal(runs, 1));
        it('again', () => assert.equal(runs, 2));`,
      'two.test.ts': `let closed = false; it('two', () => assert.equal(closed, false)); after(() => { closed = true; });`,
    });
    assert.deepEqual(outcome, { passed: ['again', 'one', 'two'], failed: [''] });
  });

  it('are named by their file when they fail, alone or not, and when they cannot be loaded', (test) => {
    const outcome = outcomeOf(test, {
      'fails.test.ts': `it('fails', () => assert.ok(false)); it('one', () => {});`,
      'broken.test.ts': `await import('./nothing.ts');`,
      'alone.test.ts': `it('fails too', () => assert.ok(false)); it('two', () => {});`,
      'good.test.ts': `it('three', () => {});`,
    });
    const failed = ['alone.test.ts', 'broken.test.ts', 'fails.test.ts'];
    assert.deepEqual(outcome, { passed: ['one', 'three', 'two'], failed });
  });

  it('end, and are named by their file, where they leave a server open', (test) => {
    const leaving = `it('leaves', () => { createServer().listen(0); });`;
    const outcome = outcomeOf(test, {
      'shared.test.ts': leaving,
      'good.test.ts': `it('one', () => {});`,
      'alone.test.ts': leaving,
    });
    assert.deepEqual(outcome, {
      passed: ['leaves', 'leaves', 'one'],
      failed: ['alone.test.ts', 'shared.test.ts'],
    });
  });

  it('are named by their file where their process ends in the middle', (test) => {
    const outcome = outcomeOf(test, {
      'good.test.ts': `it('one', () => {});`,
      'ends.test.ts': `it('ends', () => { process.exit(3); });`,
    });
    // With others of the process whose end was not reported before.
    assert.ok(outcome.failed.includes('ends.test.ts'), String(outcome.failed));
  });
});
