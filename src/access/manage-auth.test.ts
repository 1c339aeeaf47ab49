import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { stub } from '../../test/support/machine/stub.ts';
import { basic, openAccess, ownerKey, token } from '../../test/support/management/access.ts';
import { GatewayError } from '../lib/error.ts';
import { databasePath } from '../store/database.ts';
import { authenticateManagement, type ManageAuthDeps } from './manage-auth.ts';

/** What became of a request: the name of the caller, or the reason of the refusal. */
const outcome = (result: { name: string } | { reason: string }) =>
  'name' in result ? result.name : result.reason;

describe('the caller of the management API', () => {
  it('is proven by a password, or by a token that was given for one', async (test) => {
    const access = await openAccess(test);
    const alice = await access.user('alice', 'admin');
    const caller = await access.caller(basic('Alice', 'secret of alice'));
    assert.deepEqual(
      [caller.userId, caller.name, caller.role, caller.via, caller.tokenId, caller.passwordAt],
      [alice.id, 'alice', 'admin', 'basic', null, access.clock.time],
    );
    const issued = await access.control.issue(caller, 'api');
    const later = await access.caller(token(issued.token));
    assert.deepEqual([later.userId, later.via, later.tokenId], [alice.id, 'token', issued.id]);
    assert.equal(outcome(await access.enter(['authorization', `bearer ${issued.token}`])), 'alice');
  });

  it('is decided by X-Auth-Token alone where it is present', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const good = await access.login('alice');
    const wrong = basic('alice', 'wrong');
    assert.equal(outcome(await access.enter([...token(good), ...wrong])), 'alice');
    assert.equal(outcome(await access.enter([...basic('alice'), ...token('badtoken')])), 'invalid_token');
    const empty = await access.enter([...basic('alice'), ...token('')]);
    assert.deepEqual(empty, { reason: 'malformed', message: 'X-Auth-Token is empty' });
  });

  it('is rejected for headers that are repeated, listed, unknown or malformed', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const good = await access.login('alice');
    const cases: [string[], string][] = [
      [[], 'no_credentials'],
      [['cookie', `auth_token=${good}`], 'no_credentials'],
      [[...token(good), ...token(good)], 'malformed'],
      [['X-Auth-Token', good, 'x-auth-token', good], 'malformed'],
      [token(`${good}, ${good}`), 'malformed'],
      [[...basic('alice'), ...basic('alice')], 'malformed'],
      [['Authorization', 'Digest username="alice"'], 'malformed'],
      [['Authorization', 'Basic'], 'malformed'],
      [['Authorization', 'Basic !!!'], 'malformed'],
      [['Authorization', ''], 'malformed'],
      [['Authorization', `Bearer ${good} ${good}`], 'malformed'],
      [['Authorization', `Negotiate Bearer ${good}`], 'malformed'],
      [['Authorization', `Negotiate ${basic('alice')[1]}`], 'malformed'],
      [token(good.toUpperCase()), 'invalid_token'],
      [token(good.slice(0, -1)), 'invalid_token'],
      [token(`sk-${'x'.repeat(32)}`), 'invalid_token'],
      [['Authorization', `Bearer sk-${'x'.repeat(32)}`], 'invalid_token'],
    ];
    for (const [headers, reason] of cases) assert.equal(outcome(await access.enter(headers)), reason, reason);
    const other = await access.enter(['Authorization', 'Digest username="alice"']);
    assert.match('message' in other ? other.message : '', /takes Basic, or Bearer/);
    const bare = await access.enter(['Authorization', 'Basic']);
    assert.match('message' in bare ? bare.message : '', /base64 of name:password/);
    for (const around of [` ${good}\t`, `\t  ${good}  \t`])
      assert.equal(outcome(await access.enter(token(around))), 'alice', 'HTTP trims');
    assert.equal(outcome(await access.enter(['Authorization', `Bearer   ${good}`])), 'alice');
  });

  it('gets the same answer for an unknown user, a wrong password and a disabled user', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const vic = await access.user('vic', 'viewer');
    await access.control.parts.users.disable(vic.id);
    const before = access.worked();
    const refused = [
      await access.enter(basic('alice', 'wrong')),
      await access.enter(basic('nobody', 'wrong')),
      await access.enter(basic('vic')),
    ];
    assert.equal(new Set(refused.map((one) => JSON.stringify(one))).size, 1);
    assert.equal(outcome(refused[0] ?? { reason: '' }), 'wrong_password');
    assert.equal(access.worked() - before, 3, 'each is hashed');
  });

  it('loses all tokens with the password, the account or the right to enter', async (test) => {
    const access = await openAccess(test);
    const { users } = access.control.parts;
    await access.user('alice', 'admin');
    const ends: [string, (id: string) => Promise<unknown>][] = [
      ['password', (id) => users.setPassword(id, 'plain:another password')],
      ['disabled', (id) => users.disable(id)],
      ['removed', (id) => users.remove(id)],
    ];
    for (const [name, end] of ends) {
      const user = await access.user(name, 'viewer');
      const headers = token(await access.login(name));
      assert.equal(outcome(await access.enter(headers)), name);
      assert.equal(outcome(await access.enter(basic(name))), name);
      await end(user.id);
      assert.equal(outcome(await access.enter(headers)), 'invalid_token', name);
      assert.equal(outcome(await access.enter(basic(name))), 'wrong_password', name);
      if (name === 'removed') await access.user(name, 'viewer');
      if (name === 'disabled') await users.enable(user.id);
      assert.equal(outcome(await access.enter(headers)), 'invalid_token', 'nothing revives a token');
    }
    assert.equal(outcome(await access.enter(basic('password', 'another password'))), 'password');
  });

  it('has its current role, and may lower it for a request', async (test) => {
    const access = await openAccess(test);
    const op = await access.user('op', 'operator');
    const headers = token(await access.login('op'));
    const may = async (extra: string[] = []) =>
      (await access.caller([...headers, ...extra])).can('services:operate');
    assert.equal(await may(), true);
    assert.equal(await may(['X-Gateway-Role', 'viewer']), false);
    const twice = ['X-Gateway-Role', 'viewer', 'x-gateway-role', 'viewer'];
    assert.equal(outcome(await access.enter([...headers, ...twice])), 'role');
    for (const role of ['admin', 'root', '', 'constructor'])
      assert.equal(outcome(await access.enter([...headers, 'X-Gateway-Role', role])), 'role', role);
    await access.control.parts.users.edit(op.id, { role: 'viewer' });
    assert.equal(await may(), false);
    const caller = await access.caller(headers);
    assert.equal(caller.ended, true);
    await assert.rejects(access.control.issue(caller, 'api'), { code: 'unauthorized' });
    assert.equal((await access.caller(basic('op'))).ended, false);
    for (const permission of ['', 'nonsense', 'constructor', '__proto__', 'users:read'])
      assert.equal(caller.can(permission), false, permission);
  });

  it('is seen as changed by another process with the next request', async (test) => {
    const access = await openAccess(test);
    const vic = await access.user('vic', 'viewer');
    const headers = token(await access.login('vic'));
    const { openStore } = await import('../store/database.ts');
    const { userStore } = await import('./users/users.ts');
    const other = await openStore(access.dataDir);
    assert.equal(outcome(await access.enter(headers)), 'vic');
    await userStore(other).setPassword(vic.id, 'plain:set on the host');
    await other.close();
    assert.equal(outcome(await access.enter(headers)), 'invalid_token');
    assert.equal(outcome(await access.enter(basic('vic', 'set on the host'))), 'vic');
    await access.control.parts.tokens.sweep();
    assert.deepEqual(
      access.control.parts.tokens.list().filter(({ userId }) => userId === vic.id),
      [],
    );
  });

  it('may be the owner of the machine, from loopback only', async (test) => {
    const access = await openAccess(test);
    for (const headers of [token(ownerKey), ['Authorization', `Bearer ${ownerKey}`]]) {
      const caller = await access.caller(headers, '::ffff:127.0.0.1');
      assert.deepEqual([caller.via, caller.role, caller.can('users:create')], ['local', 'admin', true]);
      assert.deepEqual([caller.userId, caller.name, caller.ended], ['local', 'local', false]);
      assert.equal(outcome(await access.enter(headers, '10.0.0.1')), 'invalid_token');
      await assert.rejects(access.control.issue(caller, 'api'), { code: 'forbidden' });
    }
  });

  it('gets a server error, not a refusal, when the users cannot be read', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const good = await access.login('alice');
    const { index, logins, tokens } = access.control.parts;
    const throttle = stub<ManageAuthDeps['throttle']>({
      unknownToken: () => assert.fail('nobody guessed'),
    });
    const enter = (fault: Error) =>
      authenticateManagement(
        { rawHeaders: token(good), address: '127.0.0.1', requestId: 'req_1' },
        {
          logins,
          tokens,
          throttle,
          ownerKey,
          renewal: 'fixed',
          now: () => access.clock.time,
          users: { ...index, current: () => Promise.reject(fault) },
        },
      );
    for (const fault of [new Error('the disk'), new GatewayError('store_unavailable', 'not just now')])
      await assert.rejects(enter(fault), (error) => error === fault);
    const late = Object.assign(new Error('of something else'), { status: 429 });
    await assert.rejects(enter(late), (error) => error === late);
  });

  it('keeps a token for automation when its user gets another role, and what it reaches', async (test) => {
    const access = await openAccess(test);
    const op = await access.user('op', 'operator');
    const { tokens, users } = access.control.parts;
    const issued = await tokens.issue({
      userId: op.id,
      credentialVersion: op.credentialVersion,
      roleVersion: op.roleVersion,
      kind: 'automation',
      name: 'script',
      ttlSeconds: 600,
      authAt: null,
      maxExpiresAt: null,
      expiresAt: access.clock.time + 600_000,
      scopes: ['services:read', 'services:operate'],
      selectors: ['services:id=mcp'],
    });
    await users.edit(op.id, { role: 'viewer' });
    const caller = await access.caller(token(issued.token));
    assert.deepEqual([caller.ended, caller.via, caller.passwordAt], [false, 'automation', null]);
    assert.deepEqual([caller.can('services:read'), caller.can('services:operate')], [true, false]);
    assert.deepEqual([caller.narrowed('services'), caller.narrowed('keys')], [true, false]);
    assert.equal(caller.reaches('services', { id: 'store' }), false);
  });

  it('may come only from the networks of its token', async (test) => {
    const access = await openAccess(test);
    const alice = await access.user('alice', 'admin');
    const { token: text } = await access.control.parts.tokens.issue({
      kind: 'automation',
      name: 'script',
      ttlSeconds: 600,
      authAt: null,
      maxExpiresAt: null,
      userId: alice.id,
      credentialVersion: alice.credentialVersion,
      roleVersion: alice.roleVersion,
      expiresAt: access.clock.time + 600_000,
      scopes: ['services:read'],
      cidrs: ['10.1.0.0/16', '2001:db8::/32'],
    });
    for (const address of ['10.1.255.255', '::ffff:10.1.0.1', '2001:db8::1'])
      assert.equal(outcome(await access.enter(token(text), address)), 'alice', address);
    for (const address of ['10.2.0.0', '10.0.255.255', '127.0.0.1', '::1', '2001:db9::1', ''])
      assert.equal(outcome(await access.enter(token(text), address)), 'foreign_address', address);
  });

  it('is rejected with a token for WebSockets, whichever header it is in', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const text = await access.login('alice', 'ws');
    for (const headers of [token(text), ['Authorization', `Bearer ${text}`]])
      assert.equal(outcome(await access.enter(headers)), 'invalid_token');
    for (const kind of ['api', 'ui'])
      assert.equal(outcome(await access.enter(token(await access.login('alice', kind)))), 'alice', kind);
  });

  it('is slowed down when guessing, and not with the right password', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const held = token(await access.login('alice'));
    const before = access.worked();
    for (let index = 0; index < 50; index++)
      assert.equal(outcome(await access.enter(basic('alice'))), 'alice');
    assert.equal(access.worked(), before, 'a proven password is remembered for a minute');
    const results: string[] = [];
    for (let index = 0; index < 7; index++)
      results.push(outcome(await access.enter(basic('alice', `wrong ${index}`))));
    assert.deepEqual(results, [...Array(5).fill('wrong_password'), ...Array(2).fill('throttled')]);
    assert.equal(outcome(await access.enter(basic('ALICE'))), 'throttled', 'the right one, and another case');
    assert.equal(outcome(await access.enter(held)), 'alice', 'tokens go on');
    assert.equal(outcome(await access.enter(basic('alice'), '10.0.0.1')), 'alice', 'other clients too');
    await access.reopen();
    assert.equal(outcome(await access.enter(basic('alice'))), 'throttled', 'also after a restart');
    access.clock.time += 31_000;
    assert.equal(outcome(await access.enter(basic('alice'))), 'alice');
  });

  it('gains nothing by guessing in parallel', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const guesses = Array.from({ length: 100 }, (_, index) => access.enter(basic('alice', `guess ${index}`)));
    const results = (await Promise.all(guesses)).map(outcome);
    assert.equal(results.filter((one) => one === 'wrong_password').length, 5);
    const same = Array.from({ length: 100 }, () => access.enter(basic('alice'), '10.0.0.9'));
    assert.ok((await Promise.all(same)).every((one) => outcome(one) === 'alice'));
  });

  it('is answered 429 after too many unknown tokens, but not with expired ones', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const old = token(await access.login('alice'));
    access.clock.time += 600_000;
    for (let index = 0; index < 120; index++) assert.equal(outcome(await access.enter(old)), 'expired_token');
    const results: string[] = [];
    for (let index = 0; index < 101; index++) results.push(outcome(await access.enter(token('nonsense'))));
    assert.deepEqual([results[99], results[100]], ['invalid_token', 'throttled']);
  });

  it('leaves no trace of a secret in refusals or in the database', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const good = await access.login('alice');
    await access.caller(token(good));
    await access.control.parts.tokens.sweep();
    for (const file of [databasePath(access.dataDir), `${databasePath(access.dataDir)}-wal`]) {
      const bytes = readFileSync(file);
      assert.equal(bytes.includes(good) || bytes.includes(good.slice(4, 47)), false, file);
    }
    const presented = 'zQ7-presented-secret';
    for (const headers of [
      token(presented),
      token(`${presented},${presented}`),
      basic('alice', presented),
      basic(presented, 'x'),
      ['Authorization', `Bearer ${presented}`],
      ['Authorization', `Basic ${presented}`],
      ['Authorization', presented],
      [...token(good), 'X-Gateway-Role', presented],
    ])
      assert.equal(JSON.stringify(await access.enter(headers)).includes(presented), false);
  });

  it('never throws, whatever the headers are', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const name = fc.constantFrom('X-Auth-Token', 'authorization', 'x-gateway-role', 'cookie');
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String().map((text) => `Basic ${text}`),
      fc.string().map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
      fc.string().map((text) => `Bearer ${text}`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, value), { maxLength: 4 }),
        fc.ipV6(),
        async (headers, address) => {
          assert.ok('reason' in (await access.enter(headers.flat(), address)));
        },
      ),
    );
  });
});
