import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { connectionStore } from '../connections/store.ts';
import type { GatewayError } from '../lib/error.ts';
import { openStore } from '../store/database.ts';
import { aliasStore } from './aliases/store.ts';
import { MAX_DEPTH } from './pool/compile.ts';
import { comboStore } from './store.ts';

async function opened(test: TestContext) {
  const folder = temporaryFolder(test);
  const store = await openStore(folder);
  test.after(() => store.close());
  let time = 1_000;
  const now = () => {
    time += 1;
    return time;
  };
  const connections = connectionStore(store, Buffer.alloc(32, 1), now);
  await connections.add({ provider: 'groq', name: 'work', baseUrl: null, apiKey: 'k', defaultModel: null });
  return { folder, store, combos: comboStore(store, now), aliases: aliasStore(store, now), connections };
}

const to = (...targets: string[]) => targets.map((target) => ({ target, weight: 1 }));

/** The member at fault and what is said of it. */
async function refused(work: Promise<unknown>, param: string, message: RegExp): Promise<void> {
  await assert.rejects(work, (error: GatewayError) => {
    assert.equal(error.param, param);
    assert.match(error.message, message);
    return true;
  });
}

describe('the store of combos', () => {
  it('keeps what it was given, with the usual options for the rest', async (test) => {
    const { combos } = await opened(test);
    const targets = [{ target: 'work/a/b', weight: 2.5 }, ...to('openai/gpt-5')];
    const made = await combos.add({ name: 'x', targets, strategy: 'p2c', options: { waitMs: 9 } });
    const stored = await combos.find('x');
    assert.deepEqual(stored, made);
    assert.deepEqual(await combos.find(made.id), made);
    assert.deepEqual([stored?.targets, stored?.strategy, stored?.active], [targets, 'p2c', false]);
    assert.deepEqual([stored?.options.waitMs, stored?.options.affinity], [9, true]);
    assert.equal(await combos.find('y'), null);
  });

  it('makes a combo active in the transaction that adds or changes it', async (test) => {
    const { combos } = await opened(test);
    const active = async () => (await combos.list()).filter((one) => one.active).map(({ name }) => name);
    const first = await combos.add({ name: 'x', targets: to('work/m') }, { activate: true });
    assert.equal(first.active, true);
    assert.deepEqual(await active(), ['x']);
    await refused(
      combos.add({ name: 'y', targets: to('nowhere/m') }, { activate: true }),
      'targets[0]',
      /nowhere/,
    );
    assert.deepEqual(await active(), ['x']);
    const { id } = await combos.add({ name: 'y', targets: to('work/m') });
    assert.deepEqual(await active(), ['x']);
    assert.equal((await combos.update(id, { strategy: 'random' }, { activate: true }))?.active, true);
    assert.deepEqual(await active(), ['y']);
  });

  it('increments its revision with every change', async (test) => {
    const { aliases, combos, store } = await opened(test);
    let before = store.revision();
    const counted = async (work: Promise<unknown>) => {
      const result = await work;
      assert.ok(store.revision() > before);
      before = store.revision();
      return result as { id: string };
    };
    const { id } = await counted(combos.add({ name: 'x', targets: to('work/m') }));
    await counted(combos.update(id, { strategy: 'random' }));
    await counted(combos.activate(id));
    await counted(combos.deactivate(id));
    await counted(combos.remove(id));
    const alias = await counted(aliases.add({ name: 'n', target: 'work/m' }));
    await counted(aliases.update(alias.id, { target: 'work/n' }));
    await counted(aliases.remove(alias.id));
  });

  it('has at most one that is active', async (test) => {
    const { combos } = await opened(test);
    const made = [];
    for (const name of ['a', 'b', 'c']) made.push(await combos.add({ name, targets: to('work/m') }));
    const active = async () => (await combos.list()).filter((one) => one.active).map(({ name }) => name);
    assert.deepEqual(await active(), []);
    for (const { id, name } of made) {
      assert.equal(await combos.activate(id), true);
      assert.deepEqual(await active(), [name]);
    }
    assert.equal(await combos.activate('nobody'), false);
    assert.deepEqual(await active(), ['c']);
    const [a, b, c] = made.map(({ id }) => id) as [string, string, string];
    assert.equal(await combos.deactivate(a), false, 'another is active');
    assert.deepEqual(await active(), ['c']);
    assert.equal(await combos.activate(a, { insteadOf: b }), false, 'another than that is active');
    assert.deepEqual(await active(), ['c']);
    assert.equal(await combos.activate(a, { insteadOf: c }), true);
    assert.deepEqual(await active(), ['a']);
    assert.equal(await combos.deactivate(a), true);
    assert.deepEqual(await active(), []);
    assert.equal(await combos.activate(b, { insteadOf: a }), false, 'none is active');
    assert.deepEqual(await active(), []);
  });

  it('refuses targets that lead nowhere, each with its place', async (test) => {
    const { combos } = await opened(test);
    const add = (...targets: string[]) => combos.add({ name: 'x', targets: to(...targets) });
    await refused(add(), 'targets', /at least one target/);
    await refused(add('work/m', 'nobody/m'), 'targets[1]', /no connection or provider "nobody"/);
    await refused(add('work/'), 'targets[0]', /no model/);
    await refused(add('gpt-5'), 'targets[0]', /no combo "gpt-5".*connection\/model/);
    await refused(add('x'), 'targets', /lead back to itself: x → x/);
    assert.deepEqual(await combos.list(), []);
  });

  it('refuses cycles of combos and too deep nesting', async (test) => {
    const { combos } = await opened(test);
    const first = await combos.add({ name: 'c1', targets: to('work/m') });
    for (let depth = 2; depth <= MAX_DEPTH; depth += 1)
      await combos.add({ name: `c${depth}`, targets: to(`c${depth - 1}`, 'work/n') });
    await refused(combos.update(first.id, { targets: to('c3') }), 'targets', /c1 → c3 → c2 → c1/);
    await refused(combos.add({ name: 'deep', targets: to(`c${MAX_DEPTH}`) }), 'targets', /5 deep/);
    const leaf = await combos.add({ name: 'leaf', targets: to('work/m') });
    await refused(combos.update(first.id, { targets: to('leaf') }), 'targets', /"c5" is 6/);
    assert.equal((await combos.find('leaf'))?.id, leaf.id);
  });

  it('refuses names that mean something else already', async (test) => {
    const { aliases, combos } = await opened(test);
    const first = await combos.add({ name: 'first', targets: to('work/m') });
    await aliases.add({ name: 'other', target: 'first' });
    const add = (name: string) => combos.add({ name, targets: to('work/m') });
    await refused(add('auto'), 'name', /active combo/);
    await refused(add('Auto'), 'name', /active combo/);
    await refused(add('a/b'), 'name', /letters, digits/);
    await refused(add('first'), 'name', /exists already/);
    await refused(add('other'), 'name', /an alias/);
    await refused(combos.update(first.id, { name: 'other' }), 'name', /an alias/);
    assert.equal((await combos.update(first.id, { name: 'renamed' }))?.name, 'renamed');
  });

  it('neither removes nor renames what another combo has as a target', async (test) => {
    const { combos } = await opened(test);
    const inner = await combos.add({ name: 'inner', targets: to('work/m') });
    const outer = await combos.add({ name: 'outer', targets: to('inner') });
    await refused(combos.remove(inner.id), 'name', /target of the combo "outer"/);
    await refused(combos.update(inner.id, { name: 'new' }), 'name', /target of the combo "outer"/);
    assert.equal((await combos.update(inner.id, { strategy: 'random' }))?.strategy, 'random');
    assert.equal(await combos.remove(outer.id), true);
    assert.equal(await combos.remove(inner.id), true);
    assert.equal(await combos.remove(inner.id), false);
    assert.equal(await combos.update(inner.id, {}), null);
  });

  it('changes what is named and nothing else, also with a target that is gone meanwhile', async (test) => {
    const { combos, connections } = await opened(test);
    const { id } = await combos.add({ name: 'x', targets: to('work/m'), options: { waitMs: 5 } });
    const connection = await connections.find('work');
    await connections.remove(connection?.id ?? '');
    const changed = await combos.update(id, { options: { cache: true } });
    assert.deepEqual(
      [changed?.options.waitMs, changed?.options.cache, changed?.targets],
      [5, true, to('work/m')],
    );
    assert.deepEqual(await combos.find('x'), changed);
  });

  it('gives a name to one of two that take it at the same moment', async (test) => {
    const { folder } = await opened(test);
    const [one, two] = [await openStore(folder), await openStore(folder)];
    test.after(() => Promise.all([one.close(), two.close()]));
    const done = await Promise.allSettled(
      [one, two].map((store) => comboStore(store).add({ name: 'same', targets: to('work/m') })),
    );
    assert.deepEqual(done.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });
});

describe('the store of aliases', () => {
  it('keeps names and patterns', async (test) => {
    const { aliases } = await opened(test);
    const made = await aliases.add({ name: 'claude-*', target: 'openai/gpt-*' });
    assert.deepEqual(await aliases.find('claude-*'), made);
    assert.deepEqual(await aliases.update(made.id, { target: 'auto' }), { ...made, target: 'auto' });
    assert.deepEqual(await aliases.list(), [{ ...made, target: 'auto' }]);
    assert.equal(await aliases.remove(made.id), true);
    assert.equal(await aliases.remove(made.id), false);
    assert.equal(await aliases.update(made.id, {}), null);
  });

  it('refuses what would never be asked for, or hide something else', async (test) => {
    const { aliases, combos } = await opened(test);
    await combos.add({ name: 'fast', targets: to('work/m') });
    await aliases.add({ name: 'taken', target: 'fast' });
    const add = (name: string, target = 'work/m') => aliases.add({ name, target });
    await refused(add('auto'), 'name', /active combo/);
    await refused(add('taken'), 'name', /exists already/);
    await refused(add('fast'), 'name', /a combo named "fast"/);
    await refused(add('work/x'), 'name', /connection or provider/);
    await refused(add('openai/*'), 'name', /connection or provider/);
    await refused(add('same', 'same'), 'target', /itself/);
    await refused(add('a-*', 'b-*-*'), 'target', /more \*/);
    await refused(add('x', ''), 'target', /empty/);
    await refused(add('*'.repeat(5)), 'name', /four/);
    assert.ok(await add('nobody/x'));
  });
});
