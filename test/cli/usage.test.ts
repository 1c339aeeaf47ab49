import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

describe('the command line', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  it('says its version for -v and --version', async () => {
    for (const flag of ['-v', '--version']) {
      const { code, stdout } = await sandbox.run([flag]);
      assert.deepEqual([code, stdout], [0, `${version}\n`]);
    }
    assert.deepEqual((await sandbox.run(['--version', '--json'])).json(), { version });
    assert.equal(typeof (await sandbox.run(['--help', '--json'])).json()['help'], 'string');
  });

  it('refuses an unknown command with the nearest one (exit 2)', async () => {
    const { code, stdout, stderr } = await sandbox.run(['statsu']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /unknown command 'statsu'[\s\S]*status/);
    assert.match((await sandbox.run(['keys', 'lst'])).stderr, /list/);
  });

  it('refuses an unknown flag with the nearest one (exit 2)', async () => {
    const { code, stderr } = await sandbox.run(['providers', 'available', '--serch', 'x']);
    assert.equal(code, 2);
    assert.match(stderr, /--serch[\s\S]*--search/);
  });

  it('refuses a missing argument, one too many, and an invalid number (exit 2)', async () => {
    assert.equal((await sandbox.run(['keys', 'add'])).code, 2);
    assert.equal((await sandbox.run(['keys', 'list', 'extra'])).code, 2);
    const { code, stderr } = await sandbox.run(['logs', '--limit', 'many']);
    assert.equal(code, 2);
    assert.match(stderr, /whole number/);
  });

  it('lists the accepted values of an argument (exit 2)', async () => {
    const { code, stderr } = await sandbox.run(['cache', 'clean']);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^gateway: value 'clean' is invalid for argument 'action'. Allowed choices are clear/,
    );
  });

  it('refuses an invalid port, naming the flag (exit 2)', async () => {
    const { code, stderr } = await sandbox.run(['status', '--port', '99999']);
    assert.equal(code, 2);
    assert.match(stderr, /--port must be a port/);
  });

  it('prints an error as the one JSON document with --json, and the sentence on stderr', async () => {
    for (const args of [['statsu'], ['keys', 'remove', 'none', '--yes'], ['logs', '--since', 'yesterday']]) {
      const ran = await sandbox.run([...args, '--json']);
      assert.notEqual(ran.code, 0);
      const { error } = ran.json() as { error: { code: string; message: string } };
      assert.equal(typeof error.code, 'string');
      assert.ok(ran.stderr.includes(error.message.split('\n')[0] ?? ''));
    }
  });

  it('exits 3 and says how to start a gateway where one is needed', async () => {
    const { code, stdout, stderr } = await sandbox.run(['test', '--json']);
    assert.equal(code, 3);
    assert.equal(JSON.parse(stdout).error.code, 'gateway_not_running');
    assert.match(stderr, /start it with `gateway serve`/);
  });

  it('leaves no trace when a command only reads', async () => {
    const reading = [
      ['keys', 'list'],
      ['providers', 'list'],
      ['provider', 'list'],
      ['providers', 'available'],
      ['providers', 'validate'],
      ['providers', 'test-all'],
      ['models'],
      ['status'],
      ['logs'],
      ['config', 'show'],
      ['doctor', '--no-liveness', '--port', '0'],
    ];
    for (const args of reading) {
      const { code, stderr } = await sandbox.run(args);
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    }
    assert.equal(existsSync(sandbox.dataDir), false);
  });

  it('prints JSON on stdout and nothing else there for every reading command', async () => {
    for (const args of [
      ['keys', 'list'],
      ['providers', 'list'],
      ['models'],
      ['status'],
      ['config', 'show'],
    ]) {
      const ran = await sandbox.run([...args, '--json']);
      assert.equal(typeof ran.json(), 'object', args.join(' '));
    }
  });

  it('ends silently when the reader of its output goes away', async () => {
    const child = sandbox.spawn(['models', '--json']);
    let stderr = '';
    child.stderr.on('data', (piece: Buffer) => {
      stderr += piece.toString('utf8');
    });
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('is plain without a terminal, and with NO_COLOR', async () => {
    const environments: Record<string, string>[] = [{}, { NO_COLOR: '1' }];
    for (const env of environments) {
      const { stdout } = await sandbox.run(['providers', 'available'], { env });
      assert.equal(stdout.includes('\u001b'), false);
    }
  });

  it('takes --data-dir before and after the command', async () => {
    for (const args of [
      ['--data-dir', '/nowhere/x', 'config', 'show', '--json'],
      ['config', 'show', '--data-dir=/nowhere/x', '--json'],
    ]) {
      const { settings } = (await sandbox.run(args)).json() as { settings: { name: string }[] };
      assert.deepEqual(
        settings.find(({ name }) => name === 'data_dir'),
        { name: 'data_dir', value: '/nowhere/x', source: 'flag' },
      );
    }
  });
});
