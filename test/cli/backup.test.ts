import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

const secret = { STORAGE_ENCRYPTION_KEY: 'a secret of the test, long enough' };
const apiKey = 'sk-test-0123456789abcdefghijklmnopqrstuvwxyz';

const addConnection = async (sandbox: Sandbox, name: string, env: Readonly<Record<string, string>> = {}) => {
  const args = ['provider', 'add', 'openai', '--name', name, '--api-key-stdin', '--json'];
  const ran = await sandbox.run(args, { stdin: apiKey, env });
  assert.equal(ran.code, 0, ran.stderr);
  return String(ran.json()['id']);
};

describe('gateway backup and restore', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  it('do nothing in an empty folder, and leave no trace there', async () => {
    assert.equal((await sandbox.run(['backup'])).code, 1);
    assert.equal(existsSync(sandbox.dataDir), false);
    assert.equal((await sandbox.run(['restore', 'none.tar.gz', '--yes'])).code, 1);
  });

  it('back up while the gateway runs, and restore only when it is stopped', async () => {
    await sandbox.run(['keys', 'add', 'laptop']);
    const serving = await sandbox.serve();
    const made = await sandbox.run(['backup', '--json']);
    assert.equal(made.code, 0, made.stderr);
    const { file, includes_key } = made.json() as { file: string; includes_key: boolean };
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(includes_key, true);
    assert.match(made.stderr, /It contains storage\.key/);
    await sandbox.run(['keys', 'add', 'later']);
    const refused = await sandbox.run(['restore', file, '--yes']);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /in use by another gateway/);
    await serving.stop();

    const unasked = await sandbox.run(['restore', file]);
    assert.deepEqual([unasked.code, /--yes/.test(unasked.stderr)], [2, true]);
    const name = file.split('/').at(-1) ?? '';
    const restored = await sandbox.run(['restore', name, '--yes', '--json']);
    assert.equal(restored.code, 0, restored.stderr);
    const document = restored.json();
    assert.deepEqual([document['restored'], document['key_matches']], [true, true]);
    const { keys } = (await sandbox.run(['keys', 'list', '--json'])).json() as { keys: { name: string }[] };
    assert.deepEqual(
      keys.map((key) => key.name),
      ['laptop'],
    );
    assert.ok(existsSync(join(String(document['previous']), 'modelgate.db')));
    await (await sandbox.serve()).stop();
  });

  it('overwrite no file, and refuse what is no backup', async () => {
    const output = join(sandbox.dataDir, 'mine.tar.gz');
    writeFileSync(output, 'hello');
    assert.equal((await sandbox.run(['backup', '--output', output])).code, 2);
    assert.equal(readFileSync(output, 'utf8'), 'hello');
    const refused = await sandbox.run(['restore', output, '--yes']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot be used as a backup/);
  });

  it('are in the audit log, which verifies', async () => {
    const { records } = (await sandbox.run(['audit', 'list', '--action', 'backups.', '--json'])).json() as {
      records: { action: string; outcome: string; actor: { via: string } }[];
    };
    assert.deepEqual(
      records.map(({ action, actor, outcome }) => [action, actor.via, outcome]),
      [
        ['backups.create', 'cli', 'failure'],
        ['backups.create', 'cli', 'intended'],
        ['backups.restore', 'cli', 'success'],
        ['backups.create', 'cli', 'success'],
        ['backups.create', 'cli', 'intended'],
      ],
    );
    const verified = await sandbox.run(['audit', 'verify', '--json']);
    assert.deepEqual([verified.code, verified.json()['ok'], verified.json()['records']], [0, true, 7]);
    const file = join(sandbox.dataDir, 'audit', `${new Date().toISOString().slice(0, 7)}.jsonl`);
    writeFileSync(file, readFileSync(file, 'utf8').replace('backups.restore', 'backups.created'));
    const found = await sandbox.run(['audit', 'verify']);
    assert.equal(found.code, 1);
    assert.match(found.stdout, /line 5: its hash does not fit what it says/);
  });
});

describe('gateway auth export', () => {
  let sandbox: Sandbox;
  let first: string;
  before(async () => {
    sandbox = await createSandbox();
    first = await addConnection(sandbox, 'first', secret);
    await addConnection(sandbox, 'second', secret);
    await addConnection(sandbox, 'foreign', { STORAGE_ENCRYPTION_KEY: 'another secret, long enough too' });
  });
  after(() => sandbox.close());

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = secret) =>
    sandbox.run(['auth', 'export', ...args], { env });

  it('without --force only warns, and does not look into the database', async () => {
    const place = join(sandbox.dataDir, 'nowhere');
    const { code, stderr, stdout } = await run(['--data-dir', place]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^!! WARNING !!/);
    assert.match(stderr, /--force/);
    assert.equal(existsSync(place), false);
  });

  it('needs STORAGE_ENCRYPTION_KEY', async () => {
    const { code, stderr, stdout } = await run(['--force'], {});
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^!! WARNING !!/);
    assert.match(stderr, /STORAGE_ENCRYPTION_KEY is not set/);
  });

  it('prints the credentials as JSON, and marks what cannot be decrypted', async () => {
    const { code, stderr, stdout } = await run(['--force']);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^!! WARNING !!/);
    const { connections } = JSON.parse(stdout) as { connections: Record<string, unknown>[] };
    assert.deepEqual(
      connections.map(({ apiKey, apiKeyDecryptFailed, name }) => [name, apiKey, apiKeyDecryptFailed]),
      [
        ['first', apiKey, undefined],
        ['second', apiKey, undefined],
        ['foreign', undefined, true],
      ],
    );
  });

  it('filters by id and prints lines for a shell', async () => {
    const { stdout } = await run(['--force', '--id', first, '--format', 'env']);
    assert.equal(stdout, `GATEWAY_OPENAI_API_KEY=${apiKey}\n`);
    const all = (await run(['--force', '--format', 'env'])).stdout;
    assert.equal(all, `GATEWAY_OPENAI_API_KEY=${apiKey}\nGATEWAY_OPENAI_2_API_KEY=${apiKey}\n`);
    assert.equal((await run(['--force', '--id', 'con_none'])).code, 1);
  });

  it('writes a file of mode 0600, also in the place of a wider one', async () => {
    const out = join(sandbox.dataDir, 'export.json');
    writeFileSync(out, 'old', { mode: 0o644 });
    const { code, stdout } = await run(['--force', '--out', out]);
    assert.equal(code, 0);
    assert.equal(stdout.includes(apiKey), false);
    assert.equal(statSync(out).mode & 0o777, 0o600);
    assert.equal(JSON.parse(readFileSync(out, 'utf8')).connections.length, 3);
  });

  it('is in the audit log without the credentials, and does not happen where that cannot be written', async () => {
    const { stdout } = await sandbox.run(['audit', 'list', '--json']);
    assert.ok(stdout.includes('connections.export') && !stdout.includes(apiKey));
    const file = join(sandbox.dataDir, 'audit', `${new Date().toISOString().slice(0, 7)}.jsonl`);
    rmSync(file);
    mkdirSync(file);
    const refused = await run(['--force']);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /audit log cannot be written/);
    rmSync(file, { recursive: true });
  });
});

describe('gateway reset-encrypted-columns', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  const reset = (...args: string[]) => sandbox.run(['reset-encrypted-columns', ...args]);

  it('warns and lists without --force, and removes with it', async () => {
    await addConnection(sandbox, 'first');
    await addConnection(sandbox, 'second', secret);
    const dry = await reset('--json');
    assert.match(dry.stderr, /WARNING/);
    const { connections, ...rest } = dry.json() as { connections: { name: string; decrypts: boolean }[] };
    assert.deepEqual(rest, { dry_run: true, cleared: 0, alerts: 0, responses: 0 });
    assert.deepEqual(
      connections.map(({ decrypts, name }) => [name, decrypts]),
      [
        ['first', true],
        ['second', false],
      ],
    );
    const done = (await reset('--force', '--json')).json();
    assert.deepEqual([done['dry_run'], done['cleared']], [false, 2]);
    const listed = (await sandbox.run(['providers', 'list', '--json'])).json() as {
      providers: { status: string }[];
    };
    assert.deepEqual(
      listed.providers.map(({ status }) => status),
      ['needs-re-entry', 'needs-re-entry'],
    );
    assert.deepEqual((await reset('--force', '--json')).json()['cleared'], 0);
  });

  it('creates no key just to look', async () => {
    rmSync(join(sandbox.dataDir, 'storage.key'));
    assert.equal((await reset()).code, 0);
    assert.equal(existsSync(join(sandbox.dataDir, 'storage.key')), false);
  });
});
