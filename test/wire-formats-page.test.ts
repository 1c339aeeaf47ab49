import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codecs } from '../src/codecs/index.ts';

/** The page on adding a wire format names files that exist, in every format that is translated. */
const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/wire-formats.md'), 'utf8');
const [, passing = '', translated = ''] = page.split(/^## /m);

describe('the page on wire formats', () => {
  it('names files that exist', () => {
    const named = [...page.matchAll(/`((?:src|test|scripts|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    assert.ok(named.length > 10);
    for (const path of named) assert.ok(existsSync(join(root, path)), path);
  });

  it('names the files that every translated format has', () => {
    const files = [...translated.matchAll(/^\| `([\w./-]+)` \|/gm)].map(([, file = '']) => file);
    assert.ok(files.length > 8);
    for (const { conversation, format } of codecs)
      if (conversation !== null)
        for (const file of files)
          assert.ok(existsSync(join(root, 'src/codecs', format, file)), `${format} has no ${file}`);
  });

  it('shows a codec as it is', () => {
    const shown = /```ts\n([\s\S]*?)```/.exec(passing)?.[1] ?? '';
    const fields = [...shown.matchAll(/^ {2}(\w+)/gm)].map(([, field]) => field);
    const rerank = codecs.find(({ format }) => format === 'rerank') ?? assert.fail('no rerank');
    assert.deepEqual(Object.keys(rerank), fields);
  });

  it('is true of the list: one folder, one line', () => {
    const folders = globSync('*/codec.ts', { cwd: join(root, 'src/codecs') });
    const index = readFileSync(join(root, 'src/codecs/index.ts'), 'utf8');
    for (const file of folders) {
      const folder = file.split(/[\\/]/)[0] ?? '';
      assert.ok(folder === 'passthrough' || index.includes(`'./${folder}/codec.ts'`), folder);
    }
  });
});
