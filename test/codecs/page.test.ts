import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '../support/machine/folder.ts';

/** docs/codecs.md shows programs and what they print: each is run as it stands there. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/codecs.md'), 'utf8');
const library = pathToFileURL(join(root, 'src/codecs/library/library.ts')).href;
const examples = [...page.matchAll(/```ts\n([\s\S]*?)```\s+```text\n([\s\S]*?)```/g)];

describe('docs/codecs.md', () => {
  const folder = temporaryFolder({ after });

  it('has examples of all that the library does', () => assert.equal(examples.length, 5));

  it('shows what its examples print', () => {
    const programs = examples.map(
      ([, code = '']) =>
        `${code.replace("'modelgate/codecs'", JSON.stringify(library))}\nconsole.log('-----');`,
    );
    const paths = programs.map((program, index) => {
      const path = join(folder, `example-${index}.ts`);
      writeFileSync(path, program);
      return path;
    });
    const all = join(folder, 'all.ts');
    writeFileSync(
      all,
      paths.map((path) => `await import(${JSON.stringify(pathToFileURL(path).href)});`).join('\n'),
    );
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const { stderr, stdout } = spawnSync(process.execPath, [all], { encoding: 'utf8' });
    assert.deepEqual(
      stdout.split('-----\n').slice(0, -1),
      examples.map(([, , printed]) => printed),
      stderr,
    );
  });
});
