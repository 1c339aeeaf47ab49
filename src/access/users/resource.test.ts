import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  basic,
  type OpenAccess,
  openAccess,
  ownerKey,
  token,
} from '../../../test/support/management/access.ts';
import type { Caller, Row } from '../../http/resource.ts';
import { usersResource } from './resource.ts';

const outcome = (result: { name: string } | { reason: string }) =>
  'name' in result ? result.name : result.reason;

function handleOf(access: OpenAccess) {
  const resource = usersResource(access.control.parts);
  const rowOf = async (name: string, caller: Caller): Promise<Row> => {
    const row = await resource.find(name, caller);
    assert.ok(row !== null, name);
    return row;
  };
  return {
    resource,
    create: async (caller: Caller, input: Record<string, unknown>) => {
      const made = await resource.create?.run(
        resource.create.input.parse(input) as Record<string, unknown>,
        caller,
      );
      return made?.row;
    },
    edit: async (caller: Caller, name: string, input: Record<string, unknown>) =>
      resource.update?.run(await rowOf(name, caller), input, caller),
    remove: async (caller: Caller, name: string) => resource.remove?.run(await rowOf(name, caller), caller),
    act: async (caller: Caller, name: string, action: string, input: Record<string, unknown> = {}) =>
      resource.actions?.[action]?.run(await rowOf(name, caller), input, caller),
  };
}

const long = 'a long enough password';

describe('users', () => {
  it('are created by admins, with unique names in lower case', async (test) => {
    const access = await openAccess(test);
    const { create, resource } = handleOf(access);
    await access.user('alice', 'admin');
    const admin = await access.caller(basic('alice'));
    const row = await create(admin, {
      name: ' Vic ',
      password: long,
      role: 'viewer',
      display_name: 'Víctor',
    });
    assert.ok(row !== undefined);
    assert.deepEqual(
      [row['name'], row['role'], row['display_name'], row['disabled']],
      ['vic', 'viewer', 'Víctor', false],
    );
    assert.match(String(row['guid']), /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    assert.equal(row['created_at'], '2027-01-15T08:00:00.000Z');
    assert.deepEqual(resource.record.strict().safeParse(row).error, undefined);
    assert.equal(outcome(await access.enter(basic('VIC', long))), 'vic');
    await assert.rejects(create(admin, { name: 'VIC', password: long, role: 'viewer' }), { param: 'name' });
    await assert.rejects(create(admin, { name: 'bob', password: 'password1', role: 'viewer' }), {
      param: 'password',
    });
    for (const wrong of [
      { name: 'a:b', password: long, role: 'viewer' },
      { name: 'bob', password: long, role: 'root' },
      { name: 'bob', password: long },
      { name: 'bob', password: long, role: 'viewer', id: 'user_1' },
      { name: 'bob', password: long, role: 'viewer', credential_version: 9 },
    ])
      assert.equal(resource.create?.input.safeParse(wrong).success, false, JSON.stringify(wrong));
  });

  it('see only themselves, except admins', async (test) => {
    const access = await openAccess(test);
    const { resource } = handleOf(access);
    const alice = await access.user('alice', 'admin');
    await access.user('vic', 'viewer');
    const [admin, vic] = [await access.caller(basic('alice')), await access.caller(basic('vic'))];
    const names = async (caller: Caller) => ((await resource.list?.(caller)) ?? []).map((row) => row['name']);
    assert.deepEqual(await names(vic), ['vic']);
    assert.deepEqual((await names(admin)).sort(), ['alice', 'vic']);
    await assert.rejects(resource.find('nobody', vic), { code: 'forbidden' });
    assert.equal(await resource.find('nobody', admin), null);
    for (const selector of [alice.id, alice.guid, 'alice']) {
      await assert.rejects(resource.find(selector, vic), { code: 'forbidden' });
      assert.equal((await resource.find(selector, admin))?.['name'], 'alice');
    }
    assert.equal(JSON.stringify(await resource.list?.(admin)).includes('plain:'), false, 'no hash');
  });

  it('cannot remove the last enabled admin or lock themselves out', async (test) => {
    const access = await openAccess(test);
    const { act, edit, remove } = handleOf(access);
    const alice = await access.user('alice', 'admin');
    await access.user('bob', 'admin');
    const admin = await access.caller(basic('alice'));
    await assert.rejects(remove(admin, 'alice'), { code: 'conflict' });
    await assert.rejects(edit(admin, 'alice', { role: 'viewer' }), { code: 'conflict' });
    await assert.rejects(act(admin, 'alice', 'disable'), { code: 'conflict' });
    await edit(admin, 'alice', { role: 'admin', display_name: 'Alice' });
    const owner = await access.caller(token(ownerKey));
    await act(owner, 'bob', 'disable');
    await assert.rejects(remove(owner, 'alice'), { code: 'conflict' });
    await assert.rejects(edit(owner, 'alice', { role: 'operator' }), { code: 'conflict' });
    await assert.rejects(act(owner, 'alice', 'disable'), { code: 'conflict' });
    await act(owner, 'bob', 'enable');
    const { users } = access.control.parts;
    const both = await Promise.allSettled([users.remove(alice.id), act(owner, 'bob', 'disable')]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'not both at once');
    assert.equal(await users.hasAdmin(), true);
  });

  it('change their own password with the one they have, and nobody else without the right', async (test) => {
    const access = await openAccess(test);
    const { act } = handleOf(access);
    await access.user('alice', 'admin');
    await access.user('vic', 'viewer');
    const session = token(await access.login('vic'));
    const vic = await access.caller(session);
    const set = (input: Record<string, unknown>) => act(vic, 'vic', 'set_password', input);
    await assert.rejects(set({ password: long }), { param: 'current_password' });
    await assert.rejects(set({ password: long, current_password: 'wrong' }), { param: 'current_password' });
    await assert.rejects(set({ password: 'short', current_password: 'secret of vic' }), {
      param: 'password',
    });
    await assert.rejects(set({ password: 'secret of vic', current_password: 'secret of vic' }), {
      param: 'password',
    });
    assert.equal((await set({ password: long, current_password: 'secret of vic' }))?.success, true);
    assert.equal(outcome(await access.enter(session)), 'invalid_token');
    assert.equal(outcome(await access.enter(basic('vic', long))), 'vic');
    const row = { id: (await access.control.parts.users.find('alice'))?.id ?? '', name: 'alice' };
    const action = handleOf(access).resource.actions?.['set_password'];
    await assert.rejects(async () => action?.run(row, { password: long }, vic), { code: 'forbidden' });
  });

  it('are slowed down when they guess the password that they have', async (test) => {
    const access = await openAccess(test);
    const { act } = handleOf(access);
    await access.user('vic', 'viewer');
    const vic = await access.caller(token(await access.login('vic')));
    const guess = (index: number) =>
      act(vic, 'vic', 'set_password', { password: long, current_password: `wrong ${index}` });
    for (let index = 0; index < 5; index++) await assert.rejects(guess(index), { param: 'current_password' });
    await assert.rejects(guess(5), { code: 'too_many_logins' });
  });

  it('are changed by admins with a fresh login', async (test) => {
    const access = await openAccess(test);
    const { act, create, edit, remove } = handleOf(access);
    await access.user('alice', 'admin');
    await access.user('vic', 'viewer');
    const held = token(await access.login('vic'));
    const admin = await access.caller(token(await access.login('alice')));
    await act(admin, 'vic', 'set_password', { password: long });
    assert.equal(outcome(await access.enter(held)), 'invalid_token');
    access.clock.time += 5 * 60_000 + 1;
    const stale = { code: 'reauthentication_required' };
    await assert.rejects(act(admin, 'vic', 'set_password', { password: `${long}!` }), stale);
    await assert.rejects(act(admin, 'vic', 'disable'), stale);
    await assert.rejects(act(admin, 'vic', 'enable'), stale);
    await assert.rejects(act(admin, 'vic', 'revoke_sessions'), stale);
    await assert.rejects(edit(admin, 'vic', { role: 'admin' }), stale);
    await assert.rejects(remove(admin, 'vic'), stale);
    await assert.rejects(create(admin, { name: 'eve', password: long, role: 'admin' }), stale);
    await remove(await access.caller(token(ownerKey)), 'vic');
    assert.equal(outcome(await access.enter(basic('vic', long))), 'wrong_password');
  });

  it('end their own sessions, and no others', async (test) => {
    const access = await openAccess(test);
    const { act } = handleOf(access);
    await access.user('alice', 'admin');
    await access.user('vic', 'viewer');
    const ownSession = token(await access.login('alice'));
    const ended = [token(await access.login('vic')), token(await access.login('vic'))];
    const vic = await access.caller(ended[0] ?? []);
    assert.deepEqual((await act(vic, 'vic', 'revoke_sessions'))?.result, { count: 2 });
    for (const headers of ended) assert.equal(outcome(await access.enter(headers)), 'invalid_token');
    assert.equal(outcome(await access.enter(ownSession)), 'alice');
  });
});
