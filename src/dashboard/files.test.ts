import assert from 'node:assert/strict';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { openSiteFiles, plainBytes } from './files.ts';

const folder = temporaryFolder({ after });

/** Leaves a built site of two files; `second` is when, in seconds since the epoch. */
function build(text: string, second: number): void {
  mkdirSync(join(folder, 'assets'), { recursive: true });
  for (const name of ['index.html', 'assets/a.js']) {
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(Buffer.from(text)));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(Buffer.from(text)));
  }
  const row = { type: 'text/html', etag: `"${text}"` };
  const manifest = join(folder, 'manifest.json');
  writeFileSync(manifest, JSON.stringify({ files: { 'index.html': row, 'assets/a.js': row } }));
  utimesSync(manifest, second, second);
}

describe('the files of the dashboard', () => {
  it('are found once they are built, and reloaded when they are rebuilt', async () => {
    const files = openSiteFiles(folder);
    assert.equal(files.isBuilt(), null);
    assert.equal(await files.read('index.html'), null);
    assert.equal(files.isBuilt(), false);
    build('one', 1000);
    const first = await files.read('index.html');
    assert.ok(first);
    assert.deepEqual([files.isBuilt(), plainBytes(first).toString(), first.hashed], [true, 'one', false]);
    assert.equal((await files.read('assets/a.js'))?.hashed, true);
    build('two', 2000);
    const second = await files.read('index.html');
    assert.equal(second?.etag, '"two"');
    assert.equal((await files.read('assets/a.js'))?.etag, '"two"');
  });

  it('are those of the manifest alone', async () => {
    build('three', 3000);
    const files = openSiteFiles(folder);
    for (const path of ['manifest.json', '../package.json', 'assets/b.js', '__proto__', 'constructor'])
      assert.equal(await files.read(path), null, path);
    rmSync(join(folder, 'assets/a.js.br'));
    await assert.rejects(files.read('assets/a.js'), { code: 'ENOENT' });
  });
});
