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

  it('sets the limits of a key, and lists them with it', async () => {
    const flags = ['--budget-usd', '2.5', '--budget-period', 'week', '--rpm', '60', '--tpm', '9000'];
    const limits = { budget_usd: 2.5, budget_period: 'week', rpm: 60, tpm: 9000 };
    const ran = await sandbox.run(['keys', 'add', 'limited', ...flags, '--json']);
    assert.equal(ran.code, 0, ran.stderr);
    const subset = (one: unknown) => {
      const { budget_period, budget_usd, rpm, tpm } = Object(one);
      return { budget_usd, budget_period, rpm, tpm };
    };
    assert.deepEqual(subset(ran.json()), limits);
    assert.deepEqual(subset((await list()).find(({ name }) => name === 'limited')), limits);
    assert.equal((await sandbox.run(['keys', 'remove', 'limited', '--yes'])).code, 0);
    const left = (await sandbox.run(['budgets', 'list', '--json'])).json() as { budgets: unknown[] };
    assert.deepEqual(left.budgets, [], 'the limits of a key go with it');
  });

  it('refuses invalid limits, and a period without a limit (exit 2)', async () => {
    const before = (await list()).length;
    for (const flags of [
      ['--budget-usd', '0'],
      ['--budget-usd', 'much'],
      ['--budget-period', 'day'],
      ['--budget-usd', '1', '--budget-period', 'year'],
      ['--rpm', '0'],
      ['--tpm', '1.5'],
      // What the management API refuses, too.
      ['--budget-usd', '1e15'],
      ['--rpm', '10000000000000'],
      ['--unpriced', 'allow'],
      ['--models', ','],
      ['--cache-ttl', '99999999'],
    ]) {
      assert.equal((await sandbox.run(['keys', 'add', 'unlimited', ...flags])).code, 2, flags.join(' '));
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
