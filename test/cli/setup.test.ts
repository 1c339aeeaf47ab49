import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';
import { createUpstream, type Upstream, upstreamKey } from './upstream.ts';

const password = 'correct horse battery';

describe('setup without a terminal', () => {
  let upstream: Upstream;
  let sandbox: Sandbox;
  before(async () => {
    upstream = await createUpstream();
  });
  after(() => upstream.close());
  beforeEach(async () => {
    sandbox = await createSandbox();
  });
  afterEach(() => sandbox.close());

  const provider = () => [
    '--add-provider',
    '--provider',
    'openai-compatible',
    '--provider-name',
    'mine',
    '--provider-base-url',
    `${upstream.url}/v1`,
    '--default-model',
    'small',
  ];

  it('sets the password, connects and tests a provider with every flag of a script', async () => {
    const args = [
      'setup',
      '--non-interactive',
      '--password',
      password,
      ...provider(),
      '--test-provider',
      '--json',
    ];
    const ran = await sandbox.run([...args, '--api-key', upstreamKey]);
    assert.equal(ran.code, 0, ran.stderr);
    const { password_set, has_password, connection, test } = ran.json() as {
      password_set: boolean;
      has_password: boolean;
      connection: Record<string, unknown>;
      test: Record<string, unknown>;
    };
    assert.deepEqual([password_set, has_password, test['valid']], [true, true, true]);
    assert.deepEqual(
      [connection['name'], connection['provider'], connection['default_model'], connection['status']],
      ['mine', 'openai-compatible', 'small', 'ok'],
    );
    assert.match(ran.stderr, /visible to other users; --password-stdin/);
    assert.equal(`${ran.stdout}${ran.stderr}`.includes(upstreamKey), false);
    assert.equal(`${ran.stdout}${ran.stderr}`.includes(password), false);
    for (const entry of readdirSync(sandbox.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const bytes = readFileSync(file);
      assert.equal(bytes.includes(upstreamKey) || bytes.includes(password), false, file);
    }
  });

  it('takes the key from GATEWAY_API_KEY, without a warning', async () => {
    const ran = await sandbox.run(['setup', '--non-interactive', ...provider(), '--test-provider'], {
      env: { GATEWAY_API_KEY: upstreamKey },
    });
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /Connected OpenAI-compatible server as "mine"/);
    assert.equal(ran.stderr.includes('visible'), false);
  });

  it('takes the password from stdin, without a warning', async () => {
    const ran = await sandbox.run(['setup', '--non-interactive', '--password-stdin', '--json'], {
      stdin: `${password}\n`,
    });
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ran.json()['password_set'], true);
    assert.equal(ran.stderr.includes('visible'), false);
  });

  it('keeps a provider whose test fails, and exits 1', async () => {
    const args = [
      'setup',
      '--non-interactive',
      ...provider(),
      '--test-provider',
      '--json',
      '--api-key',
      'sk-bad-1234567',
    ];
    const ran = await sandbox.run(args);
    assert.equal(ran.code, 1);
    const { connection } = ran.json() as { connection: Record<string, unknown> };
    assert.equal(connection['status'], 'failed');
  });

  it('offers keys of the environment and never uses them', async () => {
    const env = { ANTHROPIC_API_KEY: 'sk-ant-never-used-0123456789' };
    const ran = await sandbox.run(['setup', '--non-interactive', '--key', 'ci', '--json'], { env });
    assert.equal(ran.code, 0, ran.stderr);
    const { found } = ran.json() as { found: Record<string, unknown>[] };
    assert.ok(
      found.some((one) => one['provider'] === 'anthropic' && one['variable'] === 'ANTHROPIC_API_KEY'),
    );
    assert.equal(`${ran.stdout}${ran.stderr}`.includes(env.ANTHROPIC_API_KEY), false);
    assert.deepEqual((await sandbox.run(['providers', 'list', '--json'], { env })).json(), { providers: [] });
  });

  it('refuses wrong use with exit 2 and changes nothing', async () => {
    const wrong: [string[], RegExp][] = [
      [['--password', 'short'], /at least 8/],
      [['--password', password, '--password-stdin'], /only one/],
      [['--add-provider'], /needs a key/],
      [['--add-provider', '--provider', 'nobody', '--api-key', 'k'], /no provider "nobody"/],
      [['--add-provider', '--provider', 'openai-compatible', '--api-key', 'k'], /--provider-base-url/],
      [['--test-provider'], /--add-provider/],
      [[], /Nothing to set up: give --password-stdin/],
      [['--password', password, '--add-provider'], /needs a key/],
    ];
    for (const [flags, message] of wrong) {
      const { code, stderr } = await sandbox.run(['setup', '--non-interactive', ...flags]);
      assert.equal(code, 2, `${flags.join(' ')}: ${stderr}`);
      assert.match(stderr, message);
    }
    const after = (await sandbox.run(['setup', '--non-interactive', '--key', 'ci', '--json'])).json();
    assert.equal(after['has_password'], false);
    assert.equal(after['connection'], null);
  });

  it('says what to do next', async () => {
    const { stdout } = await sandbox.run(['setup', '--non-interactive', '--password-stdin'], {
      stdin: password,
    });
    assert.match(stdout, /Next:\n {2}gateway serve\n {2}gateway keys add NAME/);
  });

  it('can run again, and updates what exists', async () => {
    const args = ['setup', '--non-interactive', ...provider(), '--test-provider', '--key', 'ci', '--json'];
    const first = await sandbox.run(args, { env: { GATEWAY_API_KEY: 'sk-bad-1234567' } });
    assert.equal(first.code, 1);
    const second = await sandbox.run(args, { env: { GATEWAY_API_KEY: upstreamKey } });
    assert.equal(second.code, 0, second.stderr);
    type Done = { connection: { id: string; status: string }; key: { id: string; key: string | null } };
    const [before, after] = [first.json() as Done, second.json() as Done];
    assert.equal(after.connection.id, before.connection.id);
    assert.deepEqual([before.connection.status, after.connection.status], ['failed', 'ok']);
    assert.match(before.key.key ?? '', /^sk-/);
    assert.deepEqual(after.key, { ...before.key, key: null });
  });

  it('does not reuse the name of a connection for another provider', async () => {
    const { code } = await sandbox.run([
      'setup',
      '--non-interactive',
      ...provider(),
      '--api-key',
      upstreamKey,
    ]);
    assert.equal(code, 0);
    const other = await sandbox.run([
      'setup',
      '--non-interactive',
      '--provider',
      'openai',
      '--provider-name',
      'mine',
      '--api-key',
      'sk-other-123456',
    ]);
    assert.equal(other.code, 2);
    assert.match(other.stderr, /"mine" exists already/);
  });
});
