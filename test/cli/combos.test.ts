import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { strategies } from '../../src/combos/strategies/index.ts';
import { createSandbox, type Sandbox } from './run.ts';

interface Combo {
  id: string;
  name: string;
  strategy: string;
  active: boolean;
  targets: { target: string; weight: number; problem: string | null }[];
  options: Record<string, unknown>;
}

describe('gateway combo and gateway alias', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
    const flags = ['--api-key', 'k', '--name', 'work'];
    assert.equal((await sandbox.run(['provider', 'add', 'openai', ...flags])).code, 0);
  });
  after(() => sandbox.close());

  const json = async <Body = Record<string, unknown>>(...args: string[]) => {
    const ran = await sandbox.run([...args, '--json']);
    assert.equal(ran.code, 0, ran.stderr);
    return ran.json<Body>();
  };
  const list = () => json<{ combos: Combo[]; active: string | null }>('combo', 'list');

  it('lists none where nothing was made, and makes nothing by listing', async () => {
    assert.deepEqual(await list(), { combos: [], active: null });
    assert.deepEqual(await json('alias', 'list'), { aliases: [] });
    assert.match((await sandbox.run(['combo', 'list'])).stdout, /gateway combo create/);
  });

  it('makes a combo of targets in order, with weights and options', async () => {
    const targets = ['--target', 'work/gpt-5@3', '--target', 'demo/echo', '--target', 'work/m@20250514'];
    const options = ['--wait-ms', '1500', '--no-affinity', '--cache', 'on', '--cache-ttl', '60'];
    const args = ['combo', 'create', 'fast', '--strategy', 'weighted', ...targets, ...options];
    const made = await json<Combo>(...args);
    assert.deepEqual(
      made.targets.map(({ target, weight }) => [target, weight]),
      [
        ['work/gpt-5', 3],
        ['demo/echo', 1],
        ['work/m@20250514', 1],
      ],
    );
    assert.equal(made.strategy, 'weighted');
    assert.deepEqual([made.options['wait_ms'], made.options['affinity'], made.active], [1500, false, false]);
    assert.deepEqual([made.options['cache'], made.options['cache_ttl_seconds']], [true, 60]);
    assert.deepEqual(await list(), { combos: [made], active: null });
    assert.deepEqual(await json('combo', 'show', 'fast'), made);
  });

  it('shows its options in the words of the flags', async () => {
    const { stdout } = await sandbox.run(['combo', 'show', 'fast']);
    assert.match(
      stdout,
      /\n {2}continue-stream: off\n {2}affinity: off\n[\s\S]*\n {2}cache: on\n {2}cache-ttl-seconds: 60\n/,
    );
    await json('combo', 'create', 'bare', '--target', 'demo/echo');
    assert.match(
      (await sandbox.run(['combo', 'show', 'bare'])).stdout,
      /\n {2}affinity: on\n[\s\S]*\n {2}cache-ttl-seconds: -\n/,
    );
    await json('combo', 'delete', 'bare', '--yes');
  });

  it('has a line for each strategy in its help', async () => {
    const { stdout } = await sandbox.run(['combo', 'create', '--help']);
    for (const { id, summary } of Object.values(strategies))
      assert.ok(stdout.includes(`\n  ${id}: ${summary}\n`), id);
  });

  it('switches the active combo, and says so', async () => {
    await json('combo', 'create', 'smart', '--target', 'fast', '--activate');
    assert.equal((await list()).active, 'smart');
    assert.equal((await json('combo', 'switch', 'fast'))['active'], 'fast');
    assert.equal((await list()).active, 'fast');
    assert.match(
      (await sandbox.run(['combo', 'show', 'fast'])).stdout,
      /"auto" means it[\s\S]*work\/gpt-5@3/,
    );
    const nobody = await sandbox.run(['combo', 'switch', 'nobody']);
    assert.equal(nobody.code, 1);
    assert.match(nobody.stderr, /combo list/);
  });

  it('changes only the given fields', async () => {
    const again = ['combo', 'create', 'smart', '--target', 'demo/tools'];
    const refused = await sandbox.run(again);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /exists already.*--replace/);
    const changed = await json<Combo>(...again, '--replace');
    assert.deepEqual(
      changed.targets.map(({ target }) => target),
      ['demo/tools'],
    );
  });

  it('refuses bad targets, strategies and names with exit 2', async () => {
    for (const [args, message] of [
      [['x'], /needs targets/],
      [['x', '--target', 'nobody/m'], /no connection or provider "nobody"/],
      [['x', '--target', 'x'], /lead back to itself/],
      [['x', '--target', 'demo/echo', '--strategy', 'best'], /best/],
      [['auto', '--target', 'demo/echo'], /active combo/],
    ] as const) {
      const ran = await sandbox.run(['combo', 'create', ...args]);
      assert.equal(ran.code, 2, args.join(' '));
      assert.match(ran.stderr, message);
    }
  });

  it('says which targets cannot be asked', async () => {
    const ran = await sandbox.run([
      'combo',
      'create',
      'later',
      '--target',
      'groq/m',
      '--target',
      'demo/echo',
    ]);
    assert.equal(ran.code, 0);
    assert.match(ran.stderr, /groq\/m is left out for now: The provider "groq" has no active connection/);
    const { targets } = await json<Combo>('combo', 'show', 'later');
    assert.deepEqual([targets[0]?.problem === null, targets[1]?.problem], [false, null]);
  });

  it('creates aliases for models, exact or by a pattern', async () => {
    const made = await json('alias', 'add', 'claude-*', 'auto');
    assert.deepEqual([made['name'], made['target'], made['pattern']], ['claude-*', 'auto', true]);
    await json('alias', 'add', 'gpt-4', 'work/gpt-4.1');
    const { aliases } = await json<{ aliases: { name: string }[] }>('alias', 'list');
    assert.deepEqual(aliases.map(({ name }) => name).sort(), ['claude-*', 'gpt-4']);
    assert.equal((await sandbox.run(['alias', 'add', 'gpt-4', 'demo/echo'])).code, 2);
    assert.equal((await sandbox.run(['alias', 'remove', 'nobody', '--yes'])).code, 1);
  });

  it('lists combos and aliases among the models', async () => {
    const { models } = (await json('models')) as {
      models: { id: string; kind: string; available: boolean; context_window: number | null }[];
    };
    const kinds = new Map(models.map(({ id, kind }) => [id, kind]));
    const wanted = { auto: 'auto', fast: 'combo', smart: 'combo', 'gpt-4': 'alias', 'demo/echo': 'model' };
    for (const [id, kind] of Object.entries(wanted)) assert.equal(kinds.get(id), kind, id);
    assert.equal(kinds.has('claude-*'), false, 'a pattern is no id');
    const found = (await json('models', '--search', 'FAST'))['models'] as { id: string }[];
    assert.deepEqual(
      found.map(({ id }) => id),
      ['fast'],
    );
  });

  it('deletes only with confirmation, and never a target of another combo', async () => {
    assert.equal((await sandbox.run(['combo', 'delete', 'fast'])).code, 2);
    await json('combo', 'create', 'outer', '--target', 'fast');
    const used = await sandbox.run(['combo', 'delete', 'fast', '--yes']);
    assert.match(used.stderr, /target of the combo "outer"/);
    await json('combo', 'delete', 'outer', '--yes');
    assert.equal((await json('combo', 'delete', 'fast', '--yes'))['removed'], true);
    assert.equal((await list()).active, null);
    assert.equal((await json('alias', 'remove', 'gpt-4', '-y'))['removed'], true);
  });

  it('leaves a record of each change in the audit log', async () => {
    const { stdout } = await sandbox.run(['audit', 'list', '--json']);
    for (const action of [
      'combos.create',
      'combos.activate',
      'combos.update',
      'combos.delete',
      'aliases.create',
    ])
      assert.ok(stdout.includes(`"${action}"`), action);
  });
});
