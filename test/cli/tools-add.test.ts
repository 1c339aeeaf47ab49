import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

describe('gateway tools add', () => {
  let sandbox: Sandbox;
  let home: string;
  let key: string;
  before(async () => {
    sandbox = await createSandbox();
    home = dirname(sandbox.dataDir);
    key = String((await sandbox.run(['keys', 'add', 'laptop', '--json'])).json()['key']);
    await mkdir(join(home, 'bin'));
    await writeFile(join(home, 'bin/my-agent'), '#!/bin/sh\necho "my-agent 3.4.5"\n');
    await chmod(join(home, 'bin/my-agent'), 0o755);
  });
  after(() => sandbox.close());

  const run = (...args: string[]) =>
    sandbox.run(['tools', ...args], { env: { PATH: join(home, 'bin'), MODELGATE_API_KEY: key } });
  const json = async (...args: string[]) => {
    const ran = await run(...args, '--json');
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ran.stdout.includes(key), false, 'the key is shown nowhere');
    return ran.json();
  };
  const statusOf = async (id: string) => {
    const { tools } = await json('status', id);
    return (tools as Record<string, { config: { status: string }; detection: { version?: string } }>)[id];
  };
  const list = async () => (await json('list'))['tools'] as { id: string; configType: string }[];

  it('a described tool is detected, configured, and restored to the byte', async () => {
    const path = join(home, '.my-agent', 'config.yaml');
    const text = '# mine\ntheme: dark\n';
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o644 });
    await json(
      ...['add', 'my-agent', '--file', '~/.my-agent/config.yaml', '--format', 'yaml'],
      ...['--set', 'providers[name=modelgate].url=<base_url>', '--set', '"the.login"=<api_key>'],
      ...['--set', 'retries=3'],
    );
    const added = (await list()).find(({ id }) => id === 'my-agent');
    assert.equal(added?.configType, 'custom-builder');
    const fresh = await statusOf('my-agent');
    assert.deepEqual([fresh?.config.status, fresh?.detection.version], ['not_configured', '3.4.5']);

    const change = await json('configure', 'my-agent', '--yes');
    assert.deepEqual([change['changed'], change['path']], [true, path]);
    const written = await readFile(path, 'utf8');
    assert.match(written, /url: http:\/\/127\.0\.0\.1:20128\/v1/);
    assert.match(written, /retries: 3/);
    assert.match(written, new RegExp(`the\\.login: ${key}`));
    assert.equal((await stat(path)).mode & 0o777, 0o600, 'whatever the entry with the key is called');
    assert.equal((await statusOf('my-agent'))?.config.status, 'configured');

    const held = await run('remove', 'my-agent', '--yes');
    assert.equal(held.code, 2);
    assert.match(held.stderr, /restore my-agent` first/);
    await json('restore', 'my-agent', '--yes');
    assert.equal(await readFile(path, 'utf8'), text);
    assert.equal((await stat(path)).mode & 0o777, 0o644);
    await json('remove', 'my-agent', '--yes');
    assert.equal((await run('status', 'my-agent')).code, 2, 'it is known no longer');
  });

  it('a tool of the environment gets its variables, with the form of address that its API has', async () => {
    const variables = [
      '--env',
      'THE_URL=<base_url>',
      '--env',
      'THE_KEY=<api_key>',
      '--env',
      'THE_MODEL=<model>',
    ];
    await json('add', 'by-env', '--name', 'By environment', '--api', 'anthropic-messages', ...variables);
    assert.match((await run('configure', 'by-env')).stderr, /By environment needs a model/);
    const { environment } = await json('configure', 'by-env', '--model', 'demo/echo');
    const wanted = { THE_URL: 'http://127.0.0.1:20128', THE_KEY: null, THE_MODEL: 'demo/echo' };
    assert.deepEqual(environment, wanted);
    assert.match((await run('add', 'by-env', ...variables)).stderr, /repeat with --replace/);
    await json('add', 'by-env', '--api', 'openai-chat', ...variables, '--replace');
    const anew = (await json('configure', 'by-env', '--model', 'm'))['environment'];
    assert.equal((anew as Record<string, string>)['THE_URL'], 'http://127.0.0.1:20128/v1');
    await json('remove', 'by-env', '--yes');
  });

  it('names the flag that is wrong', async () => {
    const env = ['--env', 'A=<base_url>', '--env', 'B=<api_key>'];
    for (const [args, problem] of [
      [['Bad Id', ...env], /"id": has small letters/],
      [['x', '--color', 'red', ...env], /--color: "color": looks like #64748B/],
      [['x', '--env', 'novalue'], /--env novalue: write a name, an equals sign/],
      [['x', '--file', '~/x', '--set', 'a=<base_url>'], /Say with --format/],
      [['x', '--set', 'a=<base_url>'], /name it with --file/],
      [
        ['x', '--file', '~/x', '--format', 'json', '--set', 'a..b=<base_url>'],
        /path "a\.\.b" cannot be read/,
      ],
    ] as const) {
      const ran = await run('add', ...args);
      assert.equal(ran.code, 2, ran.stderr);
      assert.match(ran.stderr, problem);
    }
  });

  it('names the field of a file of tools that somebody has damaged', async () => {
    const path = join(sandbox.dataDir, 'tools.json');
    await writeFile(path, '{"version": 1, "tools": [{"id": "A"}]}');
    const ran = await run('list');
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, /tools\.json.* cannot be read: "tools\.0\.id"/);
    await writeFile(path, 'nonsense');
    assert.match((await run('list')).stderr, /it is not JSON/);
    await rm(path);
    assert.equal((await run('list')).code, 0);
  });

  it('cannot remove what is part of the catalogue, or not there', async () => {
    assert.match((await run('remove', 'claude', '--yes')).stderr, /is part of the catalog/);
    assert.match((await run('remove', 'nobody', '--yes')).stderr, /No tool "nobody" was added/);
  });
});
