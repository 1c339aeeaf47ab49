import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { admin } from '../../test/support/management/caller.ts';
import { connectionAt, routesOf } from '../../test/support/routing/routing.ts';
import type { Resource, Row } from '../http/resource.ts';
import { openStore } from '../store/database.ts';
import { aliasesResource } from './aliases/resource.ts';
import { aliasRow } from './aliases/schema.ts';
import { aliasStore } from './aliases/store.ts';
import { combosResource } from './resource.ts';
import { comboChange, comboRow } from './schema.ts';
import { comboStore } from './store.ts';

async function opened(test: TestContext) {
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  const routes = () => routesOf({ connections: [connectionAt('work')] });
  return {
    combos: combosResource({ combos: comboStore(store), routes }),
    aliases: aliasesResource({ aliases: aliasStore(store) }),
  };
}

async function create(resource: Resource, input: Record<string, unknown>): Promise<Row> {
  const made = await resource.create?.run(input, admin);
  assert.ok(made);
  return made.row;
}

describe('the resource of combos', () => {
  it('shows the expanded form of short and long targets, and which are unusable', async (test) => {
    const { combos } = await opened(test);
    const targets = ['demo/echo', { target: 'openai/gpt-5', weight: 3 }];
    const row = await create(combos, { name: 'x', strategy: 'weighted', targets, options: { wait_ms: 7 } });
    comboRow.parse(row);
    assert.deepEqual(row['targets'], [
      { target: 'demo/echo', weight: 1, problem: null },
      { target: 'openai/gpt-5', weight: 3, problem: 'The provider "openai" has no active connection' },
    ]);
    assert.equal(row['strategy'], 'weighted');
    assert.deepEqual(row['options'], {
      wait_ms: 7,
      continue_stream: false,
      affinity: true,
      max_attempts: 10,
      max_elapsed_ms: 120_000,
      cache: false,
      cache_ttl_seconds: null,
      prompt_cache_marks: true,
    });
    assert.deepEqual(await combos.find('x', admin), row);
    assert.deepEqual(await combos.list?.(admin), [row]);
  });

  it('changes single options and whole lists of targets', async (test) => {
    const { combos } = await opened(test);
    const row = await create(combos, { name: 'x', targets: ['demo/echo'], options: { wait_ms: 7 } });
    const changed = await combos.update?.run(
      row,
      { targets: ['demo/tools'], options: { max_attempts: 3 } },
      admin,
    );
    assert.deepEqual(changed?.['targets'], [{ target: 'demo/tools', weight: 1, problem: null }]);
    const options = changed?.['options'] as Record<string, unknown>;
    assert.deepEqual([options['wait_ms'], options['max_attempts']], [7, 3]);
    const cacheOptions = { cache: true, cache_ttl_seconds: 60 };
    const keeping = await combos.update?.run(row, { options: cacheOptions }, admin);
    assert.deepEqual(keeping?.['options'], { ...options, ...cacheOptions });
    for (const ttl of [0, 1.5, 2_592_001])
      assert.throws(() => comboChange.parse({ options: { cache_ttl_seconds: ttl } }), /cache_ttl_seconds/);
  });

  it('activates one combo at a time, or none', async (test) => {
    const { combos } = await opened(test);
    const [one, two] = [
      await create(combos, { name: 'one', targets: ['demo/echo'] }),
      await create(combos, { name: 'two', targets: ['one'] }),
    ];
    const { activate, deactivate } = combos.actions ?? {};
    const active = async () =>
      ((await combos.list?.(admin)) ?? []).filter((row) => row['active']).map((row) => row['name']);
    for (const row of [one, two]) {
      assert.equal((await activate?.run(row, {}, admin))?.success, true);
      assert.deepEqual(await active(), [row['name']]);
    }
    assert.equal(activate?.possible?.({ ...two, active: true }), false);
    await assert.rejects(async () => activate?.run(one, { instead_of: one['id'] }, admin), {
      code: 'precondition_failed',
      param: 'instead_of',
    });
    assert.deepEqual(await active(), ['two']);
    assert.equal((await activate?.run(one, { instead_of: two['id'] }, admin))?.success, true);
    assert.deepEqual(await active(), ['one']);
    assert.match((await deactivate?.run(two, {}, admin))?.message ?? '', /is not active$/);
    assert.deepEqual(await active(), ['one'], 'another stays active');
    assert.match((await deactivate?.run(one, {}, admin))?.message ?? '', /is not active any more$/);
    assert.deepEqual(await active(), []);
    await combos.remove?.run(two, admin);
    await assert.rejects(
      async () => activate?.run(two, { instead_of: one['id'] }, admin),
      /removed in the meantime/,
    );
  });
});

describe('the resource of aliases', () => {
  it('makes, changes and removes them', async (test) => {
    const { aliases } = await opened(test);
    const row = await create(aliases, { name: 'gpt-*', target: 'demo/echo' });
    aliasRow.parse(row);
    assert.equal(row['pattern'], true);
    const changed = await aliases.update?.run(row, { name: 'gpt' }, admin);
    assert.deepEqual(
      [changed?.['name'], changed?.['target'], changed?.['pattern']],
      ['gpt', 'demo/echo', false],
    );
    await aliases.remove?.run(row, admin);
    await assert.rejects(async () => aliases.remove?.run(row, admin), /removed in the meantime/);
  });
});
