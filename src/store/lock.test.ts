import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { runScript } from '../../test/support/machine/process.ts';
import { GatewayError } from '../lib/error.ts';
import { acquireDataDir } from './lock.ts';

const holder = (test: TestContext, dataDir: string) =>
  runScript(
    test,
    import.meta.dirname,
    `const { acquireDataDir } = await import('./lock.ts');
     const lock = await acquireDataDir(${JSON.stringify(dataDir)});
     say('mine');
     await go();
     lock.release();`,
  );

describe('the lock on a data directory', () => {
  it('has one owner, whom a second process can name', async (test) => {
    const dataDir = temporaryFolder(test);
    const first = holder(test, dataDir);
    assert.equal(await first.line(), 'mine');
    const owner = () => ({ pid: 4711, url: 'http://127.0.0.1:20128' });
    await assert.rejects(acquireDataDir(dataDir, owner), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.match(
        error.message,
        /in use by another gateway \(pid 4711, http:\/\/127\.0\.0\.1:20128\): stop/,
      );
      return true;
    });
    const unknown = () => {
      throw new Error('unreadable');
    };
    await assert.rejects(acquireDataDir(dataDir, unknown), /in use by another gateway: stop/);
    first.go();
    await first.ended();
    (await acquireDataDir(dataDir)).release();
  });

  it('of a killed process is taken over', async (test) => {
    const dataDir = temporaryFolder(test);
    const first = holder(test, dataDir);
    assert.equal(await first.line(), 'mine');
    await first.kill();
    const lock = await acquireDataDir(dataDir);
    assert.equal(statSync(join(dataDir, 'owner.lock')).mode & 0o777, 0o600);
    await assert.rejects(acquireDataDir(dataDir), /in use/, 'it holds inside one process too');
    lock.release();
  });

  it('that cannot be made is not blamed on another gateway', async (test) => {
    const dataDir = temporaryFolder(test);
    mkdirSync(join(dataDir, 'owner.lock'));
    await assert.rejects(acquireDataDir(dataDir), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.match(error.message, /owner\.lock cannot be locked/);
      return true;
    });
  });
});
