import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { makeOwnFolder, socketPathIn } from './listen.ts';

function scratch(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelgate-listen-'));
  test.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('the socket through which workers reach their owner', { skip: process.platform === 'win32' }, () => {
  it('is in the data directory, unless its path is too long for a socket', () => {
    assert.equal(socketPathIn('/var/lib/modelgate'), '/var/lib/modelgate/workers.sock');
    const long = `/${'d'.repeat(120)}`;
    const path = socketPathIn(long);
    assert.ok(path.startsWith(tmpdir()) && Buffer.byteLength(path) <= 103, path);
    assert.equal(socketPathIn(long), path, 'the same each time');
  });

  it('has a folder that only this user may open, and keeps it', (test) => {
    const folder = join(scratch(test), 'own');
    makeOwnFolder(folder);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    makeOwnFolder(folder);
  });

  it('is not put into a folder that others may open, nor behind a link', (test) => {
    const at = scratch(test);
    const open = join(at, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const link = join(at, 'link');
    symlinkSync(at, link);
    for (const folder of [open, link])
      assert.throws(() => makeOwnFolder(folder), /only your user may open: remove it/);
  });
});
