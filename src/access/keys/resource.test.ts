import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { admin } from '../../../test/support/management/caller.ts';
import { attributesOf } from '../../http/collection/attributes.ts';
import { select } from '../../http/collection/select.ts';
import type { ListQuery, Row } from '../../http/resource.ts';
import { openStore } from '../../store/database.ts';
import { keyRow } from '../schema.ts';
import { keyStore } from '../store.ts';
import { hashKey } from './keys.ts';
import { keyPageQuery } from './page.ts';
import { keysResource } from './resource.ts';
import { rowOfKey } from './row.ts';

const now = Date.UTC(2026, 10, 21, 10);

async function opened(test: TestContext) {
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  const keys = keyStore(store, () => now);
  const resource = keysResource({ keys, now: () => now });
  const create = async (input: Record<string, unknown>) => {
    const made = await resource.create?.run(input, admin);
    assert.ok(made);
    return { row: made.row, key: String(made.secret?.['key']) };
  };
  const update = async (row: Row, input: Record<string, unknown>): Promise<Row> => {
    assert.ok(resource.update);
    return resource.update.run(row, input, admin);
  };
  return { store, keys, resource, create, update };
}

describe('the resource of gateway keys', () => {
  it('makes a key, shows its text once, and never again', async (test) => {
    const { create, keys, resource } = await opened(test);
    const { key, row } = await create({ name: ' ci ', models: ['openai/*'], expires_at: '2027-01-31' });
    assert.deepEqual(row, {
      id: row.id,
      name: 'ci',
      prefix: `${key.slice(0, 7)}…${key.slice(-4)}`,
      models: ['openai/*'],
      created_at: '2026-11-21T10:00:00.000Z',
      expires_at: '2027-01-31T00:00:00.000Z',
      last_used_at: null,
      expired: false,
      disabled: false,
      cache_ttl_seconds: null,
      owner: null,
      owner_user_id: null,
      team: null,
      labels: {},
    });
    const rows = await resource.list?.(admin);
    assert.deepEqual(rows, [row]);
    assert.deepEqual(keyRow.strict().parse(row), row, 'the record is the row');
    assert.deepEqual(await resource.find('ci', admin), row);
    assert.deepEqual(await resource.find(row.id, admin), row);
    const record = await keys.find('ci');
    assert.equal(record?.hash, hashKey(key));
    assert.equal(JSON.stringify(rows).includes(String(record?.hash)), false);
    assert.equal(JSON.stringify(rows).includes(key.slice(3, -4)), false);
  });

  it('refuses times that are past, and input of other shapes', async (test) => {
    const { create, resource, update } = await opened(test);
    for (const expires_at of ['2026-11-21T10:00:00Z', '2020-01-01'])
      await assert.rejects(create({ name: 'late', expires_at }), { param: 'expires_at' });
    const bad = [
      { name: '' },
      { name: 'a', models: [] },
      { name: 'a', models: [''] },
      { name: 'a', expires_at: 'tomorrow' },
      { name: 'a', key: 'sk-mine' },
      { models: null },
    ];
    for (const input of bad)
      assert.equal(resource.create?.input.safeParse(input).success, false, JSON.stringify(input));
    const { row } = await create({ name: 'one' });
    await assert.rejects(update(row, { expires_at: '2020-01-01' }), { param: 'expires_at' });
  });

  it('changes only the given fields, and keeps names unique', async (test) => {
    const { create, keys, update } = await opened(test);
    const { row } = await create({ name: 'one', models: ['a/b'], expires_at: '2027-01-31T01:00:00+01:00' });
    const { row: other } = await create({ name: 'two' });
    const named = await update(row, { name: 'uno' });
    assert.deepEqual(named, { ...row, name: 'uno' });
    const wide = await update(named, { models: null, expires_at: null, disabled: true });
    assert.deepEqual(wide, { ...named, models: null, expires_at: null, disabled: true });
    assert.deepEqual(await update(wide, {}), wide);
    assert.deepEqual(await update(wide, { name: 'uno' }), wide, 'its own name is free to it');
    for (const name of ['two', other.id])
      await assert.rejects(update(wide, { name }), { code: 'invalid_request', param: 'name' });
    const both = [keys.update(row.id, { name: 'x' }), keys.update(other.id, { name: 'x' })];
    const ends = await Promise.allSettled(both);
    assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await keys.remove(row.id);
    for (const patch of [{ name: 'again' }, { disabled: false }, {}])
      await assert.rejects(update(wide, patch), { code: 'not_found' });
  });

  it('accepts an expired key that is sent back as it was read', async (test) => {
    const { keys, resource, update } = await opened(test);
    await keys.add({ name: 'old', models: null, expiresAt: now - 1 });
    const row = await resource.find('old', admin);
    assert.ok(row);
    assert.equal(row['expired'], true);
    assert.equal((await update(row, { name: 'older', expires_at: row['expires_at'] }))['name'], 'older');
  });

  it('enables, disables and rotates, and says beforehand what would happen', async (test) => {
    const { create, keys, resource } = await opened(test);
    const { key, row } = await create({ name: 'one' });
    const { disable, enable, rotate } = resource.actions ?? {};
    assert.ok(disable && enable && rotate);
    assert.deepEqual([disable.possible?.(row), enable.possible?.(row)], [true, false]);
    assert.match((await disable.preview?.(row, {}, admin))?.message ?? '', /would be disabled/);
    assert.equal((await keys.find('one'))?.disabled, false);
    assert.equal((await disable.run(row, {}, admin)).success, true);
    assert.equal((await keys.find('one'))?.disabled, true);
    await enable.run(row, {}, admin);
    assert.equal((await keys.find('one'))?.disabled, false);
    await rotate.preview?.(row, {}, admin);
    assert.equal((await keys.find('one'))?.hash, hashKey(key));
    const { result } = await rotate.run(row, {}, admin);
    assert.match(String(result?.['key']), /^sk-[A-Za-z0-9]{32}$/);
    assert.equal((await keys.find('one'))?.hash, hashKey(String(result?.['key'])));
    await resource.remove?.run(row, admin);
    assert.equal(await resource.find('one', admin), null);
    for (const action of [disable, rotate])
      await assert.rejects(action.run(row, {}, admin), { code: 'not_found' });
    await assert.rejects(async () => resource.remove?.run(row, admin), { code: 'not_found' });
  });

  it('has a revision that its use does not change', async (test) => {
    const { create, resource } = await opened(test);
    const { row } = await create({ name: 'one' });
    const revision = resource.revisionOf?.(row);
    assert.equal(resource.revisionOf?.({ ...row, last_used_at: '2026-11-21T11:00:00.000Z' }), revision);
    assert.notEqual(resource.revisionOf?.({ ...row, disabled: true }), revision);
    assert.notEqual(resource.revisionOf?.({ ...row, prefix: 'sk-abcd…efgh' }), revision);
  });

  it('answers pages of plain queries in the database, as it would of all keys in memory', async (test) => {
    const { create, keys, resource } = await opened(test);
    for (const [name, team] of [
      ['b', 'core'],
      ['a', 'core'],
      ['d', null],
      ['c', 'web'],
    ] as const)
      await create({ name, team });
    const all = { groups: [], sort: [], ignoreCase: false, limit: 2, offset: 0 };
    const attributes = attributesOf(keyRow, new Set());
    const team = (value: string, operator: '=' | '==' = '='): ListQuery['groups'] => [
      [{ attribute: 'team', operator, value }],
    ];
    const plain: ListQuery[] = [
      all,
      { ...all, offset: 2 },
      { ...all, sort: [{ attribute: 'name', descending: true }] },
      { ...all, sort: [{ attribute: 'team', descending: true }], limit: 9 },
      { ...all, groups: team('core') },
      { ...all, groups: [[{ attribute: 'team', operator: '=', value: null }]] },
    ];
    for (const query of plain) {
      const page = await resource.page?.(query, admin);
      const rows = (await keys.list()).map((key) => rowOfKey(key, now));
      assert.deepEqual(page, select(rows, query, attributes), JSON.stringify(query));
    }
    const others: ListQuery[] = [
      { ...all, groups: team('c*') },
      { ...all, groups: [...team('core'), ...team('web')] },
      { ...all, sort: [{ attribute: 'models', descending: true }] },
      { ...all, sort: [{ attribute: 'name', descending: false }], ignoreCase: true },
    ];
    for (const query of others) assert.equal(await resource.page?.(query, admin), null);
    assert.equal((await resource.page?.({ ...all, groups: team('c*', '==') }, admin))?.filtered, 0);
  });

  it('orders keys by their last use with one index lookup for each key', async (test) => {
    const { store } = await opened(test);
    for (const descending of [true, false]) {
      const sort = [{ attribute: 'last_used_at', descending }];
      const order = keyPageQuery({ groups: [], sort, ignoreCase: false, limit: 2, offset: 0 })?.order ?? [];
      const { rows } = await sql`explain query plan select id from keys order by ${sql.join(order)}`.execute(
        store.db,
      );
      const steps = JSON.stringify(rows).match(/requests[ \w]*\(?[^"]*/g);
      assert.deepEqual(steps, ['requests USING COVERING INDEX requests_by_key (key_id=?)']);
    }
  });
});
