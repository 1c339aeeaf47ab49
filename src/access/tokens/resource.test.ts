import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  basic,
  type OpenAccess,
  openAccess,
  ownerKey,
  token,
} from '../../../test/support/management/access.ts';
import type { Caller } from '../../http/resource.ts';
import { tokensResource } from './resource.ts';

const outcome = (result: { name: string } | { reason: string }) =>
  'name' in result ? result.name : result.reason;

function makerOf(access: OpenAccess) {
  const resource = tokensResource(access.control.parts);
  return {
    resource,
    async make(caller: Caller, input: Record<string, unknown>) {
      const made = await resource.create?.run(
        resource.create.input.parse(input) as Record<string, unknown>,
        caller,
      );
      assert.ok(made !== undefined);
      return { row: made.row, text: String(made.secret?.['token']) };
    },
  };
}

const plain = { name: 'ci', scopes: ['services:read'] };

describe('automation tokens', () => {
  it('act for their user, within their scopes and the rights of the user', async (test) => {
    const access = await openAccess(test);
    const { make } = makerOf(access);
    const alice = await access.user('alice', 'admin');
    const scopes = ['services:read', 'services:operate', 'keys:create'];
    const { row, text } = await make(await access.caller(basic('alice')), { ...plain, scopes });
    assert.match(text, /^gwa_/);
    assert.equal(JSON.stringify(row).includes(text), false);
    const caller = await access.caller(token(text));
    assert.deepEqual([caller.userId, caller.via, caller.passwordAt], [alice.id, 'automation', null]);
    const may = (who: Caller) =>
      ['services:operate', 'keys:create', 'services:update', 'users:read'].map(who.can);
    assert.deepEqual(may(caller), [true, true, false, false]);
    await access.user('bob', 'admin');
    await access.control.parts.users.edit(alice.id, { role: 'operator' });
    assert.deepEqual(may(await access.caller(token(text))), [true, false, false, false]);
    await assert.rejects(access.control.issue(caller, 'api'), { code: 'forbidden' });
    await assert.rejects(access.control.end(caller), { code: 'forbidden' });
  });

  it('have no more rights than their creator, and none that tokens may not have', async (test) => {
    const access = await openAccess(test);
    const { make } = makerOf(access);
    await access.user('vic', 'viewer');
    const vic = await access.caller(basic('vic'));
    await assert.rejects(make(vic, { ...plain, scopes: ['services:operate'] }), { code: 'forbidden' });
    for (const scope of ['users:read', 'self:update', 'secrets:reveal', '*', 'constructor', ''])
      await assert.rejects(make(vic, { ...plain, scopes: [scope] }), {
        code: 'invalid_request',
        param: 'scopes',
      });
    const lowered = await access.caller([...basic('vic'), 'x-gateway-role', 'viewer']);
    await make(lowered, plain);
    await assert.rejects(make(vic, plain), { param: 'name' });
  });

  it('are made by people who have just proven their password', async (test) => {
    const access = await openAccess(test);
    const { make } = makerOf(access);
    await access.user('alice', 'admin');
    const login = token(await access.login('alice'));
    const { text } = await make(await access.caller(login), plain);
    await assert.rejects(make(await access.caller(token(text)), { ...plain, name: 'b' }), {
      code: 'forbidden',
    });
    await assert.rejects(make(await access.caller(token(ownerKey)), plain), { code: 'forbidden' });
    access.clock.time += 5 * 60_000 + 1;
    await assert.rejects(make(await access.caller(login), { ...plain, name: 'c' }), {
      code: 'reauthentication_required',
    });
  });

  it('expire after 90 days, or at a given time within 366 days', async (test) => {
    const access = await openAccess(test);
    const { make, resource } = makerOf(access);
    await access.user('alice', 'admin');
    const caller = await access.caller(basic('alice'));
    const iso = (days: number) => new Date(access.clock.time + days * 86_400_000).toISOString();
    const { row, text } = await make(caller, plain);
    assert.equal(row['expires_at'], iso(90));
    assert.equal((await make(caller, { ...plain, name: 'b', expires_at: iso(366) })).row['name'], 'b');
    for (const wrong of [iso(367), iso(0), iso(-1)])
      await assert.rejects(make(caller, { ...plain, name: 'c', expires_at: wrong }), { param: 'expires_at' });
    for (const wrong of [
      { ...plain, expires_at: 'tomorrow' },
      { ...plain, cidrs: ['10.0.0.0/99'] },
      { ...plain, cidrs: [] },
      { ...plain, scopes: [] },
      { ...plain, name: ' ' },
      { ...plain, user_id: 'user_2' },
      { ...plain, labels: { 'a b': 'c' } },
    ])
      assert.equal(resource.create?.input.safeParse(wrong).success, false, JSON.stringify(wrong));
    access.clock.time += 90 * 86_400_000;
    assert.equal(outcome(await access.enter(token(text))), 'expired_token');
  });

  it('may be bound to networks', async (test) => {
    const access = await openAccess(test);
    const { make } = makerOf(access);
    await access.user('alice', 'admin');
    const bound = { ...plain, cidrs: ['10.0.0.0/8', '2001:db8::/32'], labels: { env: 'prod' } };
    const { text } = await make(await access.caller(basic('alice')), bound);
    assert.equal(outcome(await access.enter(token(text), '10.1.2.3')), 'alice');
    assert.equal(outcome(await access.enter(token(text), '2001:db8::1')), 'alice');
    assert.equal(outcome(await access.enter(token(text), '127.0.0.1')), 'foreign_address');
  });

  it('can be listed and ended by their user and by admins', async (test) => {
    const access = await openAccess(test);
    const { make, resource } = makerOf(access);
    const alice = await access.user('alice', 'admin');
    await access.user('vic', 'viewer');
    await access.user('ann', 'viewer');
    const [admin, vic, ann] = [
      await access.caller(basic('alice')),
      await access.caller(basic('vic')),
      await access.caller(basic('ann')),
    ];
    const { row, text } = await make(vic, plain);
    const session = await access.login('vic');
    const names = async (caller: Caller) => ((await resource.list?.(caller)) ?? []).map((one) => one['user']);
    assert.deepEqual(await names(vic), ['vic', 'vic']);
    assert.deepEqual(await names(ann), []);
    assert.deepEqual(await names(admin), ['vic', 'vic']);
    assert.equal(await resource.find(row.id, ann), null);
    const own = (await resource.list?.(await access.caller(token(session)))) ?? [];
    assert.deepEqual(own.map((one) => one['current']).sort(), [false, true]);
    assert.equal(JSON.stringify(own).includes(session), false);
    for (const one of own) assert.deepEqual(resource.record.strict().safeParse(one).error, undefined);
    await assert.rejects(async () => resource.remove?.run(row, ann), { code: 'forbidden' });
    await resource.remove?.run(row, admin);
    assert.equal(outcome(await access.enter(token(text))), 'invalid_token');
    await access.control.parts.users.setPassword(alice.id, 'plain:x');
    assert.deepEqual((await names(vic)).length, 1);
  });
});
