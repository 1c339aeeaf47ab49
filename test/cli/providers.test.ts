import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { allProviders } from '../../src/providers/index.ts';
import { createSandbox, type Ran, type Sandbox } from './run.ts';
import { createUpstream, type Upstream, upstreamKey } from './upstream.ts';

interface Connection {
  id: string;
  provider: string;
  name: string;
  auth_type: string;
  active: boolean;
  status: string;
  last_error: string | null;
}

describe('providers', () => {
  let sandbox: Sandbox;
  let upstream: Upstream;
  before(async () => {
    sandbox = await createSandbox();
    upstream = await createUpstream();
  });
  after(async () => {
    await sandbox.close();
    await upstream.close();
  });

  const list = async () =>
    ((await sandbox.run(['providers', 'list', '--json'])).json() as { providers: Connection[] }).providers;
  const add = (name: string, ...flags: string[]): Promise<Ran> =>
    sandbox.run(
      ['provider', 'add', 'openai-compatible', '--name', name, '--base-url', `${upstream.url}/v1`, ...flags],
      { env: { UPSTREAM_KEY: upstreamKey }, stdin: `${upstreamKey}\n` },
    );

  it('lists what can be connected, by text and by category', async () => {
    const all = (await sandbox.run(['providers', 'available', '--json'])).json();
    assert.equal(all['count'], allProviders().length);
    assert.deepEqual(all['categories'], [
      'api-key',
      'oauth',
      'free',
      'local',
      'cloud',
      'generic',
      'demo',
      'agent',
    ]);
    const [first] = all['providers'] as Record<string, unknown>[];
    assert.deepEqual([first?.['id'], first?.['category']], ['openai', 'api-key']);
    assert.ok(JSON.stringify(first?.['dialects']).includes('openai-chat'));
    const found = (await sandbox.run(['providers', 'available', '--search', 'ANTHROPIC', '--json'])).json();
    assert.ok(Number(found['count']) >= 1 && Number(found['count']) < allProviders().length);
    const local = (await sandbox.run(['providers', 'available', '--category', 'local', '--json'])).json();
    assert.ok((local['providers'] as { category: string }[]).every(({ category }) => category === 'local'));
    const keyed = (await sandbox.run(['providers', 'available', '--category', 'apikey', '--json'])).json();
    assert.ok(Number(keyed['count']) > 10);
  });

  it('connects with a key from a variable, from stdin and from the command line', async () => {
    for (const [name, ...flags] of [
      ['by-env', '--api-key-env', 'UPSTREAM_KEY'],
      ['by-stdin', '--api-key-stdin'],
      ['by-flag', '--api-key', upstreamKey],
    ] as const) {
      const ran = await add(name, ...flags, '--json');
      assert.equal(ran.code, 0, ran.stderr);
      const connection = ran.json();
      assert.deepEqual(
        [connection['name'], connection['auth_type'], connection['active']],
        [name, 'api-key', true],
      );
      assert.equal(`${ran.stdout}${ran.stderr}`.includes(upstreamKey), false);
    }
    assert.deepEqual((await list()).map(({ name }) => name).sort(), ['by-env', 'by-flag', 'by-stdin']);
    assert.deepEqual((await sandbox.run(['provider', 'list', '--json'])).json(), { providers: await list() });
  });

  it('stores no credential in clear text', async () => {
    for (const entry of readdirSync(sandbox.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      assert.equal(readFileSync(file).includes(upstreamKey), false, file);
    }
  });

  it('tests a connection by name and by id, and stores the outcome', async () => {
    const ran = await sandbox.run(['providers', 'test', 'by-env', '--json']);
    assert.equal(ran.code, 0, ran.stderr);
    const { valid, error, connection } = ran.json() as {
      valid: boolean;
      error: null;
      connection: Connection;
    };
    assert.deepEqual([valid, error, connection.name], [true, null, 'by-env']);
    assert.equal((await list()).find(({ name }) => name === 'by-env')?.status, 'ok');
    assert.equal((await sandbox.run(['providers', 'test', connection.id])).code, 0);
    assert.ok(upstream.seen.includes('GET /v1/models'));
  });

  it('says why a test failed, with exit 1, without the key', async () => {
    const ran = await add('wrong', '--api-key', 'sk-wrong-key-987654321', '--test', '--json');
    assert.equal(ran.code, 1);
    const { status, test } = ran.json() as { status: string; test: { valid: boolean; error: string } };
    assert.deepEqual([status, test.valid], ['failed', false]);
    assert.match(test.error, /401|key/i);
    assert.equal(`${ran.stdout}${ran.stderr}`.includes('sk-wrong-key-987654321'), false);
  });

  it('tests all of them, with exit 1 when one fails', async () => {
    const ran = await sandbox.run(['providers', 'test-all', '--json']);
    assert.equal(ran.code, 1);
    const { results } = ran.json() as { results: { connection: Connection; valid: boolean }[] };
    assert.deepEqual(
      results.filter(({ valid }) => !valid).map(({ connection }) => connection.name),
      ['wrong'],
    );
    assert.equal(results.length, 4);
  });

  it('validates without sending anything', async () => {
    const before = upstream.seen.length;
    const ran = await sandbox.run(['providers', 'validate', '--json']);
    assert.equal(ran.code, 0, ran.stdout);
    assert.equal((ran.json()['results'] as unknown[]).length, 4);
    assert.equal(upstream.seen.length, before);
  });

  it('shows a connection whose key cannot be decrypted as needing re-entry, and never crashes on it', async () => {
    const env = { STORAGE_ENCRYPTION_KEY: 'another key than the one that sealed' };
    const validated = await sandbox.run(['providers', 'validate', '--json'], { env });
    assert.equal(validated.code, 1);
    const { results } = validated.json() as { results: { valid: boolean; issues: string[] }[] };
    assert.ok(results.every(({ valid, issues }) => !valid && issues.length > 0));
    assert.equal((await sandbox.run(['providers', 'list', '--json'], { env })).code, 0);
    assert.equal((await sandbox.run(['providers', 'test', 'by-env', '--json'], { env })).code, 1);
    assert.equal((await sandbox.run(['providers', 'test', 'by-env'])).code, 0);
  });

  it('lists the models that the provider named, as connection/model', async () => {
    const { models } = (await sandbox.run(['models', 'by-env', '--json'])).json() as {
      models: { id: string; provider: string; pricing: unknown; context_window: unknown }[];
    };
    assert.deepEqual(
      models.map(({ id }) => id),
      ['by-env/small', 'by-env/large'],
    );
    assert.deepEqual([models[0]?.provider, models[0]?.pricing], ['openai-compatible', null]);
  });

  it('refuses wrong use with exit 2 and a hint', async () => {
    const wrong: [string[], RegExp][] = [
      [['provider', 'add', 'opnai', '--api-key', 'k'], /no provider "opnai"/],
      [['provider', 'add', 'openai'], /--api-key-env/],
      [['provider', 'add', 'openai', '--api-key-env', 'UNSET_VARIABLE'], /UNSET_VARIABLE is not set/],
      [['provider', 'add', 'openai', '--api-key', 'a', '--api-key-stdin'], /only one/],
      [['provider', 'add', 'openai', '--api-key-stdin'], /holds no key/],
      [['provider', 'add', 'openai-compatible', '--api-key', 'k'], /--base-url/],
      [['provider', 'add', 'openai-compatible', '--base-url', 'not a url', '--api-key', 'k'], /base.url/i],
      [['provider', 'add', 'demo'], /built in/],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await sandbox.run(args);
      assert.deepEqual([code, stdout], [2, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, message);
    }
    assert.equal((await sandbox.run(['providers', 'test', 'nobody'])).code, 1);
  });

  it('refuses a second connection of the same name', async () => {
    const { code, stderr } = await add('by-env', '--api-key-stdin');
    assert.notEqual(code, 0);
    assert.match(stderr, /by-env/);
  });
});

describe('models', () => {
  it('are those of the demo on a fresh machine, free of charge', async () => {
    const sandbox = await createSandbox();
    try {
      const { models } = (await sandbox.run(['models', '--json'])).json() as {
        models: { id: string; available: boolean; pricing: { input: number; output: number } }[];
      };
      assert.deepEqual(
        models.map(({ id }) => id),
        ['demo/echo', 'demo/tools'],
      );
      assert.ok(
        models.every(({ available, pricing }) => available && pricing.input === 0 && pricing.output === 0),
      );
      const known = (await sandbox.run(['models', 'openai', '--json'])).json() as {
        models: { id: string; available: boolean; context_window: number | null }[];
      };
      assert.ok(known.models.length > 3);
      assert.ok(known.models.every(({ id, available }) => id.startsWith('openai/') && !available));
      assert.equal((await sandbox.run(['models', 'nobody'])).code, 2);
    } finally {
      await sandbox.close();
    }
  });
});

it('provider remove deletes a connection and its credential after confirmation', async (test) => {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  const upstream = await createUpstream();
  test.after(() => upstream.close());
  const flags = ['--name', 'lab', '--base-url', upstream.url, '--api-key', upstreamKey];
  const left = async () => (await sandbox.run(['providers', 'list', '--json'])).json()['providers'];
  assert.match((await sandbox.run(['provider', 'remove', 'lab', '--yes'])).stderr, /providers list/);
  const added = (await sandbox.run(['provider', 'add', 'openai-compatible', ...flags, '--json'])).json();
  assert.equal((await sandbox.run(['provider', 'remove', 'lab'])).code, 2, 'nobody can be asked');
  const removed = await sandbox.run(['provider', 'remove', 'lab', '--yes', '--json']);
  assert.deepEqual(removed.json(), { removed: true, id: added['id'], name: 'lab' });
  assert.deepEqual(await left(), []);
  const audit = (await sandbox.run(['audit', 'list', '--action', 'connections.delete', '--json'])).stdout;
  assert.match(audit, /"outcome":\s*"success"/);
});

it('provider add shows the name of the provider, tested or not', async (test) => {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  const upstream = await createUpstream();
  test.after(() => upstream.close());
  const add = (...flags: string[]) =>
    sandbox.run(['provider', 'add', 'openai-compatible', '--base-url', upstream.url, ...flags]);
  assert.equal((await add('--name', 'box')).stdout, 'Connected OpenAI-compatible server as "box".\n');
  assert.match(
    (await add('--name', 'lab', '--api-key', upstreamKey, '--test')).stdout,
    /^Connected OpenAI-compatible server as "lab"\.\nlab: ok in \d+ ms, 2 models\n$/,
  );
});

it('provider add names the fields that a cloud credential lacks', async (test) => {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  const incomplete = JSON.stringify({ access_key_id: 'AKIAEXAMPLE', region: 7 });
  const { code, stderr } = await sandbox.run(['provider', 'add', 'bedrock', '--api-key-stdin'], {
    stdin: incomplete,
  });
  assert.equal(code, 2);
  assert.match(stderr, /secret_access_key is missing; region: /);
});

it('provider login says what to check when the issuer cannot be reached', async (test) => {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  const oauth = ['--auth', 'oauth', '--issuer', 'https://login.invalid', '--client-id', 'me'];
  const base = ['--name', 'work', '--base-url', 'https://ai.example.com'];
  assert.equal((await sandbox.run(['provider', 'add', 'openai-compatible', ...base, ...oauth])).code, 0);
  const { code, stderr } = await sandbox.run(['provider', 'login', 'work']);
  assert.notEqual(code, 0);
  assert.match(stderr, /the name login\.invalid cannot be resolved: check the issuer and the network/);
});
