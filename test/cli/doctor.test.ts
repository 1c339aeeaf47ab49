import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { checkMemory, checkNames, checkRuntime, checkStorage } from '../../src/cli/checks.ts';
import { createSandbox, type Ran, type Sandbox } from './run.ts';

interface Check {
  name: string;
  status: string;
  message: string;
}

const checksOf = (ran: Ran): Check[] => (ran.json() as { checks: Check[] }).checks;
const check = (ran: Ran, name: string): Check | undefined => checksOf(ran).find((one) => one.name === name);

describe('doctor', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await createSandbox();
  });
  afterEach(() => sandbox.close());

  const doctor = (...flags: string[]) => sandbox.run(['doctor', '--json', '--port', '0', ...flags]);

  it('makes exactly the eight checks, in order, each with a status and a message', async () => {
    const ran = await doctor();
    assert.equal(ran.code, 0, ran.stdout);
    assert.deepEqual(
      checksOf(ran).map(({ name }) => name),
      [
        'Config',
        'Database',
        'Storage/encryption',
        'Port availability',
        'Node runtime',
        'Native binary',
        'Memory',
        'Server liveness',
      ],
    );
    const counts: Record<string, number> = { ok: 0, warn: 0, fail: 0 };
    for (const { status, message } of checksOf(ran)) {
      counts[status] = (counts[status] ?? Number.NaN) + 1;
      assert.ok(message.length > 0);
    }
    assert.deepEqual(ran.json()['summary'], counts);
  });

  it('warns about a gateway that does not run, and fails about an address that was named', async () => {
    assert.equal(check(await doctor(), 'Server liveness')?.status, 'warn');
    assert.equal(check(await doctor('--no-liveness'), 'Server liveness')?.status, 'ok');
    const named = await doctor('--liveness-url', 'http://127.0.0.1:9/');
    assert.deepEqual([named.code, check(named, 'Server liveness')?.status], [1, 'fail']);
  });

  it('fails with exit 1 for a configuration that is invalid, and still makes every check', async () => {
    await mkdir(sandbox.dataDir, { mode: 0o700 });
    await writeFile(join(sandbox.dataDir, 'config.json'), '{"port": "many"}');
    const ran = await sandbox.run(['doctor', '--json', '--no-liveness']);
    assert.equal(ran.code, 1);
    assert.match(check(ran, 'Config')?.message ?? '', /config\.json.*port/);
    assert.equal(checksOf(ran).length, checkNames.length);
  });

  it('fails for a port that another program holds', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const ran = await sandbox.run(['doctor', '--json', '--no-liveness', '--port', port]);
    server.close();
    assert.deepEqual([ran.code, check(ran, 'Port availability')?.status], [1, 'fail']);
  });

  it('fails for a damaged database, and finds a sound one sound', async () => {
    await sandbox.run(['keys', 'add', 'one']);
    assert.equal(check(await doctor(), 'Database')?.status, 'ok');
    const { databasePath } = await import('../../src/store/database.ts');
    await writeFile(databasePath(sandbox.dataDir), 'this is no database, whatever its name says');
    const ran = await doctor('--no-liveness');
    assert.deepEqual([ran.code, check(ran, 'Database')?.status], [1, 'fail']);
  });

  it('fails when the key does not open the stored credentials, naming the connection', async () => {
    const added = await sandbox.run([
      'provider',
      'add',
      'openai',
      '--name',
      'work',
      '--api-key',
      'sk-secret-123456',
    ]);
    assert.equal(added.code, 0, added.stderr);
    assert.equal(check(await doctor(), 'Storage/encryption')?.status, 'ok');
    const ran = await sandbox.run(['doctor', '--json', '--port', '0'], {
      env: { STORAGE_ENCRYPTION_KEY: 'a wrong one, but long enough' },
    });
    assert.equal(check(ran, 'Storage/encryption')?.status, 'fail');
    assert.match(check(ran, 'Storage/encryption')?.message ?? '', /work/);
    assert.equal(ran.stdout.includes('sk-secret-123456'), false);
  });

  it('fails when the key is gone, and no reading command creates another', async () => {
    const add = ['provider', 'add', 'openai', '--api-key', 'sk-secret-123456', '--name'];
    const added = await sandbox.run([...add, 'work']);
    assert.equal(added.code, 0, added.stderr);
    const file = join(sandbox.dataDir, 'storage.key');
    const kept = join(sandbox.dataDir, 'kept');
    await rename(file, kept);
    for (const command of [
      ['doctor', '--no-liveness', '--port', '0'],
      ['providers', 'validate'],
      ['providers', 'list'],
      ['providers', 'test', 'work'],
      ['reset-encrypted-columns'],
      ['backup', '--output', join(sandbox.dataDir, 'copy.tar.gz')],
      [...add, 'second'],
    ]) {
      const ran = await sandbox.run([...command, '--json']);
      assert.equal(existsSync(file), false, command.join(' '));
      if (command[0] === 'doctor') {
        assert.deepEqual([ran.code, check(ran, 'Storage/encryption')?.status], [1, 'fail']);
        assert.match(check(ran, 'Storage/encryption')?.message ?? '', /work.*storage\.key/);
      }
      if (command[1] === 'validate') assert.match(ran.stdout, /cannot be decrypted/);
      if (command[0] === 'provider') assert.match(ran.stdout, /"storage_key_missing"/);
    }
    await rename(kept, file);
    assert.equal(check(await doctor(), 'Storage/encryption')?.status, 'ok');
    await rm(file);
    assert.equal((await sandbox.run(['reset-encrypted-columns', '--force'])).code, 0);
    assert.equal((await sandbox.run([...add, 'third'])).code, 0, 'nothing is lost by a new key now');
    assert.equal(existsSync(file), true);
  });

  it('fails for a STORAGE_ENCRYPTION_KEY that can be guessed, and says how to replace it', async () => {
    const ran = await sandbox.run(['doctor', '--json', '--no-liveness'], {
      env: { STORAGE_ENCRYPTION_KEY: 'x' },
    });
    assert.equal(ran.code, 1);
    assert.match(check(ran, 'Config')?.message ?? '', /too weak.*128 bits.*openssl rand.*rotate-key/);
  });

  it('warns about a data directory that others can read', {
    skip: process.platform === 'win32',
  }, async () => {
    await mkdir(sandbox.dataDir);
    await chmod(sandbox.dataDir, 0o755);
    assert.equal(check(await doctor(), 'Config')?.status, 'warn');
  });

  it('prints a line per check and a summary for people', async () => {
    const { stdout } = await sandbox.run(['doctor', '--port', '0']);
    for (const name of checkNames) assert.ok(stdout.includes(name), name);
    assert.match(stdout, /Summary: \d+ ok, \d+ warnings?, \d+ failures?/);
  });
});

describe('the checks', () => {
  it('count the stored responses that the key does not decrypt', async () => {
    const facts = { source: 'environment', dataDir: '/nowhere', sealed: ['a'], unreadable: [] } as const;
    const some = await checkStorage({ ...facts, responses: { total: 3, unreadable: 2 } });
    assert.equal(some.status, 'warn');
    assert.match(some.message, /2 of 3 kept responses were encrypted with another/);
    const none = await checkStorage({ ...facts, responses: { total: 3, unreadable: 0 } });
    assert.equal(none.status, 'ok');
  });

  it('know which Node.js versions are supported', () => {
    for (const version of ['22.22.2', '22.23.0', '24.0.0', '26.1.0'])
      assert.equal(checkRuntime(version).status, 'ok');
    for (const version of ['18.0.0', '20.20.2', '22.22.1', '23.5.0'])
      assert.equal(checkRuntime(version).status, 'fail');
  });

  it('judge the memory that is available', () => {
    assert.equal(checkMemory(8e9).status, 'ok');
    assert.equal(checkMemory(200e6).status, 'warn');
    assert.equal(checkMemory(30e6).status, 'fail');
  });
});
