import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { basic, openAccess, token } from '../../../test/support/management/access.ts';

/** What became of a request: the name of the caller, or the reason of the refusal. */
const outcome = (result: { name: string } | { reason: string }) =>
  'name' in result ? result.name : result.reason;

describe('tokens of logins', () => {
  it('live exactly as long as their stated lifetime', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    access.clock.time += 999;
    const caller = await access.caller(basic('alice'));
    const start = access.clock.time - 999;
    for (const [requester, seconds] of [
      ['api', 600],
      ['ui', 3600],
      ['ws', 3600],
    ] as const) {
      const { expiresAt, requesterType, ttlSeconds } = await access.control.issue(caller, requester);
      assert.deepEqual([expiresAt, ttlSeconds, requesterType], [start + seconds * 1000, seconds, requester]);
    }
    for (const wrong of ['bogus', '', 'API', 'constructor'])
      await assert.rejects(access.control.issue(caller, wrong), {
        code: 'invalid_request',
        param: 'requester_type',
      });
    const headers = token(await access.login('alice'));
    access.clock.time = start + 599_999;
    assert.equal(outcome(await access.enter(headers)), 'alice');
    access.clock.time += 1;
    assert.equal(outcome(await access.enter(headers)), 'expired_token');
    access.clock.time += 3_600_000;
    await access.control.parts.tokens.sweep();
    assert.equal(outcome(await access.enter(headers)), 'invalid_token');
    assert.deepEqual(
      await access.store.db.selectFrom('tokens').selectAll().where('kind', '=', 'api').execute(),
      [],
    );
  });

  it('of WebSockets open nothing else', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    assert.equal(outcome(await access.enter(token(await access.login('alice', 'ws')))), 'invalid_token');
    assert.equal(outcome(await access.enter(token(await access.login('alice', 'ui')))), 'alice');
  });

  it('are all different, also when they are asked for at once, and survive a restart', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const texts = await Promise.all(Array.from({ length: 100 }, () => access.login('alice')));
    assert.equal(new Set(texts).size, 100);
    await access.reopen();
    for (const text of texts) assert.equal(outcome(await access.enter(token(text))), 'alice');
  });

  it('yield further tokens of the same login that end no later than it allows', async (test) => {
    const access = await openAccess(test, { tokenMaxLifetimeSeconds: 900 });
    await access.user('alice', 'admin');
    const proven = access.clock.time;
    const first = token(await access.login('alice'));
    access.clock.time += 500_000;
    const caller = await access.caller(first);
    const second = await access.control.issue(caller, 'api');
    assert.deepEqual([second.ttlSeconds, second.expiresAt], [400, proven + 900_000]);
    const later = await access.caller(token(second.token));
    assert.deepEqual([later.passwordAt, caller.passwordAt], [proven, proven]);
    assert.equal(outcome(await access.enter(first)), 'alice', 'the old one stays valid');
    assert.equal(access.control.endOf(later), proven + 900_000);
  });

  it('end one at a time when they are deleted', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const [one, two] = [token(await access.login('alice')), token(await access.login('alice'))];
    const caller = await access.caller(one);
    await access.control.end(caller);
    assert.equal(outcome(await access.enter(one)), 'invalid_token');
    assert.equal(access.control.endOf(caller), 0);
    await assert.rejects(access.control.issue(caller, 'api'), { code: 'unauthorized' });
    assert.equal(outcome(await access.enter(two)), 'alice');
    await access.control.end(await access.caller(basic('alice')));
    assert.equal(outcome(await access.enter(two)), 'alice');
  });

  it('are not issued for a password that was changed meanwhile', async (test) => {
    const access = await openAccess(test);
    const alice = await access.user('alice', 'admin');
    const caller = await access.caller(basic('alice'));
    access.clock.time += 1;
    await access.control.parts.users.setPassword(alice.id, 'plain:new');
    await assert.rejects(access.control.issue(caller, 'api'), { code: 'unauthorized' });
  });

  it('are extended by use where that is configured, up to the latest expiry', async (test) => {
    const access = await openAccess(test, {
      tokenRenewal: 'sliding',
      tokenTtlSeconds: 3,
      tokenMaxLifetimeSeconds: 8,
    });
    await access.user('alice', 'admin');
    const headers = token(await access.login('alice'));
    for (let second = 0; second < 7; second++) {
      access.clock.time += 1000;
      assert.equal(outcome(await access.enter(headers)), 'alice');
      if (second === 3) await access.reopen();
    }
    access.clock.time += 1000;
    assert.equal(outcome(await access.enter(headers)), 'expired_token', 'eight seconds after the password');
    const still = token(await access.login('alice'));
    const skipping = [...still, 'X-Auth-Skip-Token-Renewal', 'true'];
    access.clock.time += 2000;
    assert.equal(outcome(await access.enter(skipping)), 'alice');
    access.clock.time += 1000;
    assert.equal(outcome(await access.enter(skipping)), 'expired_token', 'not renewed');
    const next = token(await access.login('alice'));
    for (const word of ['truest', 'untrue']) {
      access.clock.time += 2000;
      const headers = [...next, 'X-Auth-Skip-Token-Renewal', word];
      assert.equal(outcome(await access.enter(headers)), 'alice', 'another word asks for nothing');
    }
  });

  it('are not extended otherwise', async (test) => {
    const access = await openAccess(test, { tokenTtlSeconds: 4 });
    await access.user('alice', 'admin');
    const headers = token(await access.login('alice'));
    const results: string[] = [];
    for (let second = 0; second < 6; second++) {
      results.push(outcome(await access.enter(headers)));
      access.clock.time += 1000;
    }
    assert.deepEqual(results, [...Array(4).fill('alice'), ...Array(2).fill('expired_token')]);
  });

  it('record the use of the login, at most once a minute', async (test) => {
    const access = await openAccess(test);
    const alice = await access.user('alice', 'admin');
    const lastLogin = async () => (await access.control.parts.users.find(alice.id))?.lastLoginAt;
    assert.equal(await lastLogin(), null);
    await access.login('alice');
    const first = access.clock.time;
    access.clock.time += 30_000;
    await access.login('alice');
    assert.equal(await lastLogin(), first);
    access.clock.time += 30_000;
    await access.login('alice');
    assert.equal(await lastLogin(), first + 60_000);
  });

  it('are at most a thousand per user; the oldest are removed', async (test) => {
    const access = await openAccess(test);
    await access.user('alice', 'admin');
    const caller = await access.caller(basic('alice'));
    const texts: string[] = [];
    for (let index = 0; index < 1002; index++) texts.push((await access.control.issue(caller, 'api')).token);
    assert.equal(access.control.parts.tokens.list().length, 1000);
    assert.equal(outcome(await access.enter(token(texts[1] ?? ''))), 'invalid_token');
    assert.equal(outcome(await access.enter(token(texts[2] ?? ''))), 'alice');
  });
});
