import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

interface Key {
  id: string;
  name: string;
  prefix: string;
  models: string[] | null;
  expires_at: string | null;
}

describe('gateway keys', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  const list = async () => ((await sandbox.run(['keys', 'list', '--json'])).json() as { keys: Key[] }).keys;

  it('makes a key, shown once, and lists it by its prefix only', async () => {
    const ran = await sandbox.run(['keys', 'add', 'laptop', '--json']);
    assert.equal(ran.code, 0, ran.stderr);
    const { id, name, key, created_at: createdAt } = ran.json() as Record<string, string>;
    assert.equal(name, 'laptop');
    assert.match(key ?? '', /^sk-[0-9A-Za-z]{28,}$/);
    assert.ok(!Number.isNaN(Date.parse(createdAt ?? '')));
    const listed = (await list()).find((one) => one.id === id);
    assert.ok(listed !== undefined && key !== undefined);
    assert.ok(key.startsWith(listed.prefix.split('…')[0] ?? 'none') && listed.prefix.length < 16);
    for (const args of [
      ['keys', 'list'],
      ['keys', 'list', '--json'],
    ]) {
      assert.equal((await sandbox.run(args)).stdout.includes(key ?? ''), false);
    }
  });

  it('prints the bare key on stdout for people, so that it can be captured', async () => {
    const { stdout } = await sandbox.run(['keys', 'add', 'captured']);
    assert.match(stdout, /^sk-[0-9A-Za-z]+\n$/);
  });

  it('keeps the models and the expiry', async () => {
    const expires = '2099-01-31T00:00:00.000Z';
    const args = ['keys', 'add', 'narrow', '--models', 'openai/*, demo/echo', '--expires', expires, '--json'];
    assert.equal((await sandbox.run(args)).code, 0);
    const narrow = (await list()).find(({ name }) => name === 'narrow');
    assert.deepEqual(narrow?.models, ['openai/*', 'demo/echo']);
    assert.equal(narrow?.expires_at, expires);
  });

  it('refuses an expiry that is past or no time, and an empty model list (exit 2)', async () => {
    for (const flags of [
      ['--expires', '2020-01-01'],
      ['--expires', 'soon'],
      ['--models', ','],
    ]) {
      assert.equal((await sandbox.run(['keys', 'add', 'x', ...flags])).code, 2, flags.join(' '));
    }
  });

  it('refuses budgets and rate limits, which it does not enforce, instead of ignoring them (exit 2)', async () => {
    const before = (await list()).length;
    for (const flag of ['--budget-usd', '--budget-period', '--rpm', '--tpm']) {
      const { code, stderr } = await sandbox.run(['keys', 'add', 'limited', flag, '1']);
      assert.equal(code, 2);
      assert.ok(stderr.includes(flag) && stderr.includes('not enforced'));
    }
    assert.equal((await list()).length, before);
  });

  it('asks before removing, and refuses where nobody can be asked without --yes (exit 2)', async () => {
    const { code, stderr } = await sandbox.run(['keys', 'remove', 'captured']);
    assert.equal(code, 2);
    assert.match(stderr, /--yes/);
    assert.ok((await list()).some(({ name }) => name === 'captured'));
  });

  it('removes by name and by id with --yes', async () => {
    assert.equal((await sandbox.run(['keys', 'remove', 'captured', '--yes'])).code, 0);
    const [first] = await list();
    assert.ok(first);
    assert.equal((await sandbox.run(['keys', 'remove', first.id, '-y', '--json'])).json()['removed'], true);
    assert.ok((await list()).every(({ id, name }) => id !== first.id && name !== 'captured'));
  });

  it('exits 1 for a key that does not exist', async () => {
    assert.equal((await sandbox.run(['keys', 'remove', 'nobody', '--yes'])).code, 1);
  });
});
