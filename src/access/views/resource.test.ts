import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { basic, type OpenAccess, openAccess } from '../../../test/support/management/access.ts';
import type { Caller } from '../../http/resource.ts';
import { savedViewsResource } from './resource.ts';

const view = { page: 'requests', name: 'Failed', search: 'outcome=failed&range=7d' };

describe('saved views', () => {
  const open = ({ control }: OpenAccess) => {
    const resource = savedViewsResource(control.parts);
    const add = async (caller: Caller, input: Record<string, unknown>) =>
      (await resource.create?.run(input, caller))?.row;
    const names = async (caller: Caller) => (await resource.list?.(caller))?.map(({ name }) => name);
    return { add, names, resource };
  };

  it('are each user’s own, and go with the user', async (test) => {
    const access = await openAccess(test);
    const { add, names, resource } = open(access);
    await access.user('alice', 'admin');
    const { id } = await access.user('vic', 'viewer');
    const [alice, vic] = [await access.caller(basic('alice')), await access.caller(basic('vic'))];
    const row = await add(vic, view);
    assert.ok(row !== undefined);
    assert.equal(resource.record.strict().safeParse(row).error, undefined);
    await add(alice, view);
    await add(vic, { ...view, page: 'costs' });
    await assert.rejects(add(vic, view), { code: 'conflict' });
    assert.deepEqual([await names(alice), await names(vic)], [['Failed'], ['Failed', 'Failed']]);
    assert.equal(await resource.find(row.id, alice), null);
    await assert.rejects(async () => resource.remove?.run(row, alice), { code: 'not_found' });
    await access.control.parts.users.remove(id);
    assert.deepEqual(await names(vic), []);
    assert.deepEqual(await names(alice), ['Failed']);
  });

  it('can be renamed and get other filters, but not the name of another', async (test) => {
    const access = await openAccess(test);
    const { add, names, resource } = open(access);
    await access.user('alice', 'admin');
    const alice = await access.caller(basic('alice'));
    const row = await add(alice, view);
    await add(alice, { ...view, name: 'Slow' });
    assert.ok(row !== undefined);
    const change = (input: Record<string, unknown>) => resource.update?.run(row, input, alice);
    await assert.rejects(async () => change({ name: 'Slow' }), { code: 'conflict' });
    assert.equal(
      (await change({ name: 'Failures', search: 'outcome=failed' }))?.['search'],
      'outcome=failed',
    );
    assert.deepEqual(await names(alice), ['Failures', 'Slow']);
    for (const wrong of [
      { ...view, page: 'users' },
      { ...view, name: ' ' },
      { ...view, search: 'a=ü' },
      { ...view, user_id: 'user_1' },
    ])
      assert.equal(resource.create?.input.safeParse(wrong).success, false, JSON.stringify(wrong));
  });
});
