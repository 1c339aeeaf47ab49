import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { waitFor } from '../support/gateway/gateway.ts';
import {
  challenged,
  codeOf,
  firstResult,
  type Managed,
  managed,
  passwordOf,
  refused,
} from '../support/management/management.ts';

/** The text of every file below a folder, as bytes in Latin-1. */
function everyFile(folder: string): { path: string; text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ path, text: readFileSync(path, 'latin1') }));
}

const statusOf = async (at: Managed, token: string, headers = {}) =>
  (await at.call('GET', '/api', { token, headers })).status;

/** Makes an automation token for a user who has just logged in. */
async function automation(at: Managed, login: string, input: object): Promise<{ id: string; token: string }> {
  const reply = await at.call('POST', '/api/tokens', { token: login, body: input });
  assert.equal(reply.status, 200, reply.text);
  const made = firstResult(reply);
  return { id: String(made['id']), token: String(made['token']) };
}

describe('tokens that end at a fixed time', () => {
  const at = managed();

  it('AC-08, AC-09 and SC-08 do not work after it', async () => {
    const token = await at.login('admin');
    at.advance(598);
    assert.equal(await statusOf(at, token), 200);
    at.advance(3);
    challenged(await at.call('GET', '/api', { token }));
    challenged(await at.call('GET', '/api/auth', { token }));
    const next = await at.login('admin');
    assert.notEqual(next, token);
    assert.equal(await statusOf(at, next), 200);
  });

  it('AC-35 live no longer for being used', async () => {
    const token = await at.login('admin');
    for (let second = 0; second < 590; second += 59) {
      assert.equal(await statusOf(at, token), 200);
      at.advance(59);
    }
    at.advance(11);
    challenged(await at.call('GET', '/api', { token }));
  });

  it('AC-34 and D2 can be exchanged for another token, but not beyond the longest time', async () => {
    const started = await at.login('admin');
    let token = started;
    for (let time = 0; time < 43_200 - 500; time += 500) {
      const reply = await at.call('GET', '/api/auth', { token });
      assert.equal(reply.status, 200, `after ${time} s`);
      token = String(reply.json()['auth_token']);
      at.advance(500);
    }
    at.advance(500);
    challenged(await at.call('GET', '/api', { token }));
    challenged(await at.call('GET', '/api', { token: started }));
  });

  it('AC-44 and SC-08 survive a restart, but not their expiry', async () => {
    const token = await at.login('admin');
    await at.gateway.kill();
    await at.gateway.restart();
    assert.equal(await statusOf(at, token), 200);
    at.advance(601);
    challenged(await at.call('GET', '/api', { token }));
  });

  it('SC-09 end for good, also over a restart', async () => {
    const token = await at.login('admin');
    assert.equal((await at.call('DELETE', '/api/auth', { token })).status, 204);
    await at.gateway.kill();
    await at.gateway.restart();
    challenged(await at.call('GET', '/api', { token }));
  });

  it('AC-46 and SC-07 are never stored in clear text', async () => {
    const token = await at.login('admin');
    const made = await automation(at, token, { name: 'nowhere', scopes: ['services:read'] });
    const list = await at.call('GET', '/api/tokens?expand=resources', { token });
    assert.equal(list.status, 200, list.text);
    const entered = [token, made.token, passwordOf('admin')];
    await waitFor('the last use to be written', () => at.gateway.output().stdout !== '');
    const { stderr, stdout } = at.gateway.output();
    const places = [
      ...everyFile(at.gateway.dataDir),
      { path: 'the output', text: `${stderr}${stdout}` },
      { path: '/api/tokens', text: list.text },
    ];
    for (const { path, text } of places)
      for (const secret of entered) assert.equal(text.includes(secret), false, `a secret stands in ${path}`);
  });
});

describe('tokens that are renewed by use', () => {
  const at = managed({
    config: {
      api: { token_ttl_seconds: 1234, token_renewal: 'sliding', token_max_lifetime_seconds: 10_000 },
    },
  });

  it('AC-10 live for as long as is configured', async () => {
    const reply = await at.call('GET', '/api/auth', { token: at.admin.token });
    const { expires_on, token_ttl } = reply.json();
    assert.equal(token_ttl, 1234);
    assert.ok(Math.abs(Date.parse(String(expires_on)) - Date.now() - 1_234_000) <= 2000);
  });

  it('AC-36 live on while they are used, and end when they are not', async () => {
    const token = await at.login('admin');
    for (let time = 0; time < 8000; time += 1000) {
      assert.equal(await statusOf(at, token), 200, `after ${time} s`);
      at.advance(1000);
    }
    assert.equal(await statusOf(at, token), 200);
    at.advance(1235);
    challenged(await at.call('GET', '/api', { token }));
  });

  it('AC-37 are not renewed by a client that asks not to', async () => {
    const token = await at.login('admin');
    at.advance(1000);
    assert.equal(await statusOf(at, token, { 'x-auth-skip-token-renewal': 'true' }), 200);
    at.advance(235);
    challenged(await at.call('GET', '/api', { token }));
  });

  it('AC-38 end at the latest after the longest time', async () => {
    const token = await at.login('admin');
    for (let time = 0; time < 10_000; time += 1000) {
      assert.equal(await statusOf(at, token), 200, `after ${time} s`);
      at.advance(1000);
    }
    challenged(await at.call('GET', '/api', { token }));
  });
});

describe('tokens for automation', () => {
  const at = managed();

  it('SC-64 may do what their scopes say and no more', async () => {
    const owner = await at.person('op', 'operator');
    const { token } = await automation(at, owner.token, { name: 'reader', scopes: ['keys:read'] });
    assert.equal((await at.call('GET', '/api/keys', { token })).status, 200);
    for (const path of ['/api/users', '/api/tokens', '/api/live?topics=requests'])
      refused(await at.call('GET', path, { token }), 403, 'forbidden');
    refused(await at.call('POST', '/api/keys', { token, body: { name: 'more' } }), 403, 'forbidden');
  });

  it('SC-64 cannot create tokens, by login or otherwise', async () => {
    const alice = await at.person('alice', 'admin');
    const { token } = await automation(at, alice.token, {
      name: 'minter',
      scopes: ['self:read', 'services:read'],
    });
    refused(await at.call('GET', '/api/auth', { token }), 403, 'forbidden');
    const body = { name: 'child', scopes: ['services:read'] };
    refused(await at.call('POST', '/api/tokens', { token, body }), 403, 'forbidden');
  });

  it('SC-64 cannot get permissions that their creator lacks, or that no token may have', async () => {
    const owner = await at.person('op', 'operator');
    const ask = (scopes: string[]) =>
      at.call('POST', '/api/tokens', { token: owner.token, body: { name: 'more', scopes } });
    refused(await ask(['keys:create']), 403, 'forbidden');
    for (const scopes of [['users:update'], ['secrets:reveal'], ['nonsense'], ['*'], ['__proto__'], []])
      refused(await ask(scopes), 400, 'bad_request');
  });

  it('SC-64 follow the current role of their owner', async () => {
    const alice = await at.person('alice', 'admin');
    const owner = await at.person('falling', 'operator');
    const { token } = await automation(at, owner.token, {
      name: 'operates',
      scopes: ['keys:read', 'self:read'],
    });
    assert.equal((await at.call('GET', '/api/keys', { token })).status, 200);
    const lowered = await at.call('PATCH', `/api/users/${owner.id}`, {
      token: alice.token,
      body: { role: 'viewer' },
    });
    assert.equal(lowered.status, 200, lowered.text);
    refused(await at.call('GET', '/api/keys', { token }), 403);
    assert.equal((await at.call('GET', '/api/users', { token })).status, 200);
    const off = await at.call('POST', `/api/users/${owner.id}`, {
      token: alice.token,
      body: { action: 'disable' },
    });
    assert.equal(off.status, 200, off.text);
    challenged(await at.call('GET', '/api/keys', { token }));
  });

  it('SC-64 reach only the objects that their selectors name', async () => {
    const alice = await at.person('alice', 'admin');
    const label = await at.call('PATCH', '/api/services/store', {
      token: alice.token,
      body: { labels: { team: 'data' } },
    });
    assert.equal(label.status, 200, label.text);
    const input = {
      name: 'narrow',
      scopes: ['services:read', 'services:operate', 'keys:read', 'keys:create'],
    };
    const selectors = ['services:id=scheduler', 'services:labels.team=data', 'keys:name=none'];
    const { token } = await automation(at, alice.token, { ...input, selectors });
    const seen = (await at.call('GET', '/api/services?attributes=id', { token })).json();
    assert.deepEqual((seen['resources'] as { id: string }[]).map(({ id }) => id).sort(), [
      'scheduler',
      'store',
    ]);
    assert.equal(seen['count'], 2);
    assert.equal((await at.call('GET', '/api/services/store', { token })).status, 200);
    const body = { action: 'test' };
    assert.equal((await at.call('POST', '/api/services/store', { token, body })).status, 200);
    refused(await at.call('GET', '/api/services/data-plane', { token }), 404);
    refused(await at.call('POST', '/api/services/data-plane', { token, body }), 404);
    const many = { ...body, resources: [{ id: 'data-plane' }, { id: 'store' }] };
    const results = (await at.call('POST', '/api/services', { token, body: many })).json()['results'];
    assert.deepEqual(
      (results as { success: boolean }[]).map(({ success }) => success),
      [false, true],
    );
    assert.equal((await at.call('GET', '/api/keys', { token })).json()['count'], 0);
    refused(await at.call('POST', '/api/keys', { token, body: { name: 'more' } }), 403, 'forbidden');
    refused(await at.call('GET', '/api/live?topics=services', { token }), 403, 'forbidden');
    for (const wrong of [['service:id=mcp'], ['services'], ['services:guid=x'], ['budgets:id=x'], []])
      refused(
        await at.call('POST', '/api/tokens', {
          token: alice.token,
          body: { ...input, name: 'wrong', selectors: wrong },
        }),
        400,
        'bad_request',
      );
  });

  it('SC-64 work only from their networks, whatever a header says', async () => {
    const alice = await at.person('alice', 'admin');
    const input = { name: 'elsewhere', scopes: ['keys:read'], cidrs: ['192.0.2.0/24'] };
    const { token } = await automation(at, alice.token, input);
    challenged(await at.call('GET', '/api/keys', { token }));
    const headers = { 'x-forwarded-for': '192.0.2.7', 'x-real-ip': '192.0.2.7', forwarded: 'for=192.0.2.7' };
    challenged(await at.call('GET', '/api/keys', { token, headers }));
    const here = await automation(at, alice.token, { ...input, name: 'here', cidrs: ['127.0.0.0/8'] });
    assert.equal((await at.call('GET', '/api/keys', { token: here.token })).status, 200);
  });

  it('SC-64 end at the time that was set, which is limited', async () => {
    const alice = await at.person('alice', 'admin');
    const make = (expires_at: string) =>
      at.call('POST', '/api/tokens', {
        token: alice.token,
        body: { name: `t ${expires_at}`, scopes: ['keys:read'], expires_at },
      });
    for (const time of ['2999-01-01T00:00:00Z', '2001-01-01T00:00:00Z', 'never', ''])
      refused(await make(time), 400, 'bad_request');
    const later = new Date(Date.now() + 3600_000).toISOString();
    const reply = await make(later);
    assert.equal(reply.status, 200, reply.text);
    const token = String(firstResult(reply)['token']);
    assert.equal((await at.call('GET', '/api/keys', { token })).status, 200);
    at.advance(3601);
    challenged(await at.call('GET', '/api/keys', { token }));
  });

  it('SC-65 need a password that was given a moment ago', async () => {
    const token = await at.login('admin');
    at.advance(301);
    const ask = (name: string, login: string) =>
      at.call('POST', '/api/tokens', { token: login, body: { name, scopes: ['keys:read'] } });
    const stale = await ask('stale', token);
    refused(stale, 403, 'forbidden');
    assert.equal(codeOf(stale), 'reauthentication_required');
    const renewed = String((await at.call('GET', '/api/auth', { token })).json()['auth_token']);
    refused(await ask('renewed', renewed), 403, 'forbidden');
    assert.equal((await ask('fresh', await at.login('admin'))).status, 200);
  });

  it('SC-04 and SC-05 are shown to their owner and to admins, and are not there for others', async () => {
    const [alice, mine, other] = [
      await at.login('alice'),
      (await at.person('mine', 'operator')).token,
      (await at.person('other', 'operator')).token,
    ];
    const made = await automation(at, mine, { name: 'private', scopes: ['keys:read'] });
    const see = (token: string) => at.call('GET', `/api/tokens/${made.id}`, { token });
    assert.equal((await see(mine)).status, 200);
    assert.equal((await see(alice)).status, 200);
    const hidden = await see(other);
    refused(hidden, 404, 'not_found');
    const absent = await at.call('GET', '/api/tokens/tok_nope', { token: other });
    const plain = (text: string) => text.replaceAll(/req_[\w-]+|tok(en)?_[\w-]+/g, 'ID');
    assert.equal(plain(hidden.text), plain(absent.text), 'what is hidden looks like what is not there');
    refused(await at.call('DELETE', `/api/tokens/${made.id}`, { token: other }), 404);
    const list = await at.call('GET', '/api/tokens?expand=resources', { token: other });
    assert.equal(list.text.includes(made.id), false);
    assert.equal((await at.call('GET', '/api/keys', { token: made.token })).status, 200, 'it still works');
  });

  it('SC-12 admins end one token, or all logins of a user', async () => {
    const admin = await at.login('alice');
    const [user, second] = [await at.person('watched', 'viewer'), await at.login('watched')];
    const mine = (await at.call('GET', '/api/tokens?expand=resources', { token: second })).json();
    const current = (mine['resources'] as Record<string, unknown>[]).find((row) => row['current'] === true);
    assert.ok(current);
    assert.equal((await at.call('DELETE', `/api/tokens/${current['id']}`, { token: admin })).status, 204);
    challenged(await at.call('GET', '/api', { token: second }));
    assert.equal(await statusOf(at, user.token), 200);
    const all = await at.call('POST', `/api/users/${user.id}`, {
      token: admin,
      body: { action: 'revoke_sessions' },
    });
    assert.equal(all.status, 200, all.text);
    challenged(await at.call('GET', '/api', { token: user.token }));
  });
});
