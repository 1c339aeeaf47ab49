import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './support/machine/folder.ts';

const biome = fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url));
const rule = fileURLToPath(new URL('../scripts/lint/typed-state.grit', import.meta.url));

/** The lines of code that the rule refuses, by their numbers from 1. */
function refusedLines(test: TestContext, ...lines: string[]): number[] {
  const folder = temporaryFolder(test);
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ plugins: [rule] }));
  writeFileSync(join(folder, 'code.ts'), lines.join('\n'));
  const { stderr } = spawnSync(biome, ['lint', '--colors=off', folder], { cwd: folder, encoding: 'utf8' });
  return [...stderr.matchAll(/code\.ts:(\d+):\d+ plugin/g)].map(([, line]) => Number(line));
}

describe('the lint rule for typed state', () => {
  it('refuses Object.assign on a value that exists, with any number of sources', (test) => {
    const lines = ['Object.assign(a, { b: 2 });', 'Object.assign(a, b, { c: 3 });', 'Object.assign({}, a);'];
    assert.deepEqual(refusedLines(test, ...lines), [1, 2, 3]);
  });

  it('allows Object.assign on a value that is made in the same expression', (test) => {
    assert.deepEqual(refusedLines(test, "throw Object.assign(new Error('a'), { code: 'b' });"), []);
  });

  it('refuses a cast by way of unknown, and no other', (test) => {
    assert.deepEqual(refusedLines(test, 'use(a as string);', 'use((await a()) as unknown as string);'), [2]);
  });
});
