import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

describe('gateway stop', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  it('returns when the gateway has ended', async () => {
    const { url } = await sandbox.serve();
    const stopped = await sandbox.run(['stop', '--json']);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.deepEqual([stopped.json()['stopped'], stopped.json()['url']], [true, url]);
    assert.equal(existsSync(join(sandbox.dataDir, 'run.json')), false);
    await assert.rejects(fetch(`${url}/healthz`));
  });

  it('exits with 3 when none runs', async () => {
    assert.equal((await sandbox.run(['stop'])).code, 3);
  });

  it('leaves the version to `gateway version`', async () => {
    const { node, running, version } = (await sandbox.run(['version', '--json'])).json();
    assert.deepEqual([node, running], [process.version, null]);
    assert.match(String(version), /^\d+\.\d+\.\d+/);
  });

  it('shows first steps only until there is a key', async () => {
    const firstLines = async () => {
      const child = sandbox.spawn(['serve', '--port', '0']);
      const lines: Buffer[] = [];
      child.stdout.on('data', (piece: Buffer) => lines.push(piece));
      // The ready line is the last one.
      while (!Buffer.concat(lines).toString().includes('listening on'))
        await new Promise((resolve) => child.stdout.once('data', resolve));
      assert.equal((await sandbox.run(['stop'])).code, 0);
      return Buffer.concat(lines).toString();
    };
    assert.match(await firstLines(), /First steps/);
    assert.equal((await sandbox.run(['keys', 'add', 'laptop'])).code, 0);
    assert.doesNotMatch(await firstLines(), /First steps/);
  });
});
