import assert from 'node:assert/strict';
import { globSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importGraph, reachedFrom } from '../scripts/changed/import-graph.ts';
import { programTests, programTestsOf } from '../scripts/changed/program-tests.ts';
import { testsOf } from '../scripts/changed/select-tests.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `npm run test:changed` runs a test that a change could break. */
describe('the tests that a change touches', () => {
  const graph = new Map([
    ['src/a/a.ts', ['src/a/b.ts']],
    ['src/a/a.test.ts', ['src/a/a.ts']],
    ['src/c/c.test.ts', ['src/c/c.ts']],
    ['src/cli/main.ts', ['src/a/a.ts', 'src/mcp/x.ts']],
    ['test/e2e/management/mcp.test.ts', ['test/support/gateway/gateway.ts']],
    ['test/e2e/management/a2a.test.ts', ['test/support/gateway/gateway.ts']],
    ['test/support/gateway/gateway.ts', ['src/cli/main.ts']],
  ]);
  const tests = [...graph.keys()].filter((file) => file.endsWith('.test.ts'));
  const touchedBy = (...changed: string[]) => testsOf({ graph, tests, changed });

  it('are those that import it, directly or not', () => {
    assert.deepEqual(touchedBy('src/a/b.ts'), ['src/a/a.test.ts']);
    assert.deepEqual(touchedBy('src/c/c.test.ts'), ['src/c/c.test.ts']);
    assert.deepEqual(touchedBy('test/support/gateway/gateway.ts'), [
      'test/e2e/management/mcp.test.ts',
      'test/e2e/management/a2a.test.ts',
    ]);
    assert.deepEqual(touchedBy(), []);
  });

  it('are those about its folder, where they start the program', () => {
    assert.deepEqual(touchedBy('src/mcp/x.ts'), ['test/e2e/management/mcp.test.ts']);
    assert.deepEqual(touchedBy('src/a2a/x.ts'), ['test/e2e/management/a2a.test.ts']);
  });

  it('are named by a row for each folder, whose every pattern fits a test', () => {
    for (const { name } of readdirSync(`${root}/src`, { withFileTypes: true }).filter((e) => e.isDirectory()))
      assert.ok(programTestsOf(`src/${name}/x.ts`).length > 0, name);
    const unused = Object.values(programTests)
      .flat()
      .filter((pattern) => globSync(pattern, { cwd: root }).length === 0);
    assert.deepEqual(unused, []);
  });

  it('are found by the imports of this repository', () => {
    const files = globSync('src/{lib,proxy,access}/**/*.ts', { cwd: root });
    const reached = reachedFrom(importGraph(root, files), 'src/proxy/inbound/tags.test.ts');
    assert.ok(reached.has('src/lib/tags.ts'));
  });
});
