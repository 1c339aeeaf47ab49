import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  challenged,
  codeOf,
  managed,
  type Person,
  passwordOf,
  refused,
} from '../support/management/management.ts';

describe('users', () => {
  const at = managed();
  const act = (who: string, person: Pick<Person, 'id'>, action: string, resource?: object) =>
    at.call('POST', `/api/users/${person.id}`, { token: who, body: { action, resource } });
  const enter = (token: string) => at.call('GET', '/api', { token });
  const create = (body: object) => at.call('POST', '/api/users', { token: at.ownerKey(), body });

  it('AC-39 and SC-10 lose their tokens with their password', async () => {
    const vic = await at.person('vic', 'viewer');
    const reply = await act(await at.login('admin'), vic, 'set_password', {
      password: 'quite another secret',
    });
    assert.equal(reply.status, 200, reply.text);
    challenged(await enter(vic.token));
    challenged(await at.call('GET', '/api', { basic: ['vic', vic.password] }));
    await at.login('vic', 'quite another secret');
  });

  it('AC-40 and SC-10 lose access when they are disabled, without an explanation', async () => {
    const vic = await at.person('disabled', 'viewer');
    assert.equal((await act(await at.login('admin'), vic, 'disable')).status, 200);
    challenged(await enter(vic.token));
    const right = await at.call('GET', '/api', { basic: ['disabled', vic.password] });
    const wrong = await at.call('GET', '/api', { basic: ['nobody-at-all', 'x'] });
    challenged(right);
    const plain = (text: string) => text.replaceAll(/req_[\w-]+/g, 'ID');
    assert.equal(plain(right.text), plain(wrong.text));
    assert.equal((await act(await at.login('admin'), vic, 'enable')).status, 200);
    challenged(await enter(vic.token));
    await at.login('disabled');
  });

  it('AC-41 and SC-10 leave nothing to whoever has their name next', async () => {
    const first = await at.person('named', 'viewer');
    assert.equal(
      (await at.call('DELETE', `/api/users/${first.id}`, { token: await at.login('admin') })).status,
      204,
    );
    challenged(await enter(first.token));
    challenged(await at.call('GET', '/api', { basic: ['named', first.password] }));
    const again = await create({ name: 'named', role: 'viewer', password: first.password });
    assert.equal(again.status, 200, again.text);
    challenged(await enter(first.token));
  });

  it('AC-42 and SC-11 lose a right at once', async () => {
    const op = await at.person('op', 'operator');
    assert.equal((await at.call('GET', '/api/keys', { token: op.token })).status, 200);
    const lowered = await at.call('PATCH', `/api/users/${op.id}`, {
      token: await at.login('admin'),
      body: { role: 'viewer' },
    });
    assert.equal(lowered.status, 200, lowered.text);
    refused(await at.call('GET', '/api/keys', { token: op.token }), 403, 'forbidden');
    const anew = await at.login('op');
    refused(await at.call('GET', '/api/keys', { token: anew }), 403, 'forbidden');
  });

  it('lose their logins with a change of role, and then get the usual refusals', async () => {
    const vic = await at.person('riser', 'viewer');
    const change = async (role: string) =>
      at.call('PATCH', `/api/users/${vic.id}`, { token: await at.login('admin'), body: { role } });
    assert.equal((await change('viewer')).status, 200);
    assert.equal((await enter(vic.token)).status, 200, 'the same role is no change');
    assert.equal((await change('operator')).status, 200);
    for (const path of ['/api', '/api/keys', '/api/auth', '/api/live', '/api/nothing', '/api/services/nope'])
      challenged(await at.call('GET', path, { token: vic.token }));
    for (const body of [{ action: 'nonsense' }, '{', { action: 'revoke_sessions' }])
      challenged(await at.call('POST', '/api/users', { token: vic.token, body }));
    refused(await at.call('GET', '/api/audit', { token: vic.token }), 403, 'forbidden');
    assert.equal((await enter(await at.login('riser'))).status, 200);
    assert.equal((await change('viewer')).status, 200);
    challenged(await enter(vic.token));
  });

  it('AC-43 end only their own logins', async () => {
    const vic = await at.person('leaver', 'viewer');
    const second = await at.login('leaver');
    assert.equal((await act(second, vic, 'revoke_sessions')).status, 200);
    for (const token of [vic.token, second]) challenged(await enter(token));
    assert.equal((await enter(at.admin.token)).status, 200);
    const again = await at.login('leaver');
    const body = { action: 'revoke_sessions' };
    const own = await at.call('POST', '/api/users', { token: again, body });
    assert.equal(own.status, 200, own.text);
    assert.equal(own.json()['success'], true, 'the caller is meant where nobody is named');
    challenged(await enter(again));
    assert.equal((await enter(at.admin.token)).status, 200);
  });

  it('AC-79 and SC-33 change their own password, and nothing else of theirs or of others', async () => {
    const vic = await at.person('careful', 'viewer');
    const op = await at.person('neighbour', 'operator');
    const own = (resource: object) => act(vic.token, vic, 'set_password', resource);
    refused(await own({ password: 'quite another secret' }), 400);
    refused(await own({ password: 'quite another secret', current_password: 'wrong' }), 400);
    for (const body of [
      { role: 'admin' },
      { display_name: 'x' },
      { id: '1' },
      { guid: 'x' },
      { disabled: false },
    ])
      refused(await at.call('PATCH', `/api/users/${vic.id}`, { token: vic.token, body }), 403);
    for (const action of ['set_password', 'revoke_sessions', 'disable', 'edit', 'delete']) {
      const resource = { password: 'quite another secret', current_password: op.password };
      const reply = await act(vic.token, op, action, action === 'set_password' ? resource : undefined);
      assert.ok(reply.status === 403 || reply.status === 404, `${action}: ${reply.status} ${reply.text}`);
    }
    await at.login('neighbour');
    const done = await own({ password: 'quite another secret', current_password: vic.password });
    assert.equal(done.status, 200, done.text);
    await at.login('careful', 'quite another secret');
  });

  it('AC-80 the last admin stays, and nobody shuts themselves out', async () => {
    const admin = await at.login('admin');
    const list = await at.call('GET', '/api/users?expand=resources', { token: admin });
    const self = (list.json()['resources'] as { id: string; name: string }[]).find(
      ({ name }) => name === 'admin',
    );
    assert.ok(self);
    const tries = [
      await at.call('DELETE', `/api/users/${self.id}`, { token: admin }),
      await at.call('PATCH', `/api/users/${self.id}`, { token: admin, body: { role: 'viewer' } }),
      await act(admin, self, 'disable'),
      await at.call('DELETE', `/api/users/${self.id}`, { token: at.ownerKey() }),
      await at.call('PATCH', `/api/users/${self.id}`, { token: at.ownerKey(), body: { role: 'viewer' } }),
      await act(at.ownerKey(), self, 'disable'),
    ];
    for (const reply of tries)
      assert.ok([400, 403, 409].includes(reply.status), `${reply.status} ${reply.text}`);
    assert.equal((await enter(admin)).status, 200);
  });

  it('SC-50 of two admins who remove each other at once, one remains', async () => {
    const [one, two] = await Promise.all([at.person('rival-a', 'admin'), at.person('rival-b', 'admin')]);
    const self = await at.call('GET', '/api/users?filter[]=name=admin&expand=resources', {
      token: one.token,
    });
    const [third] = self.json()['resources'] as { id: string }[];
    assert.ok(third);
    const lower = (token: string, id: string) =>
      at.call('PATCH', `/api/users/${id}`, { token, body: { role: 'viewer' } });
    assert.equal((await lower(one.token, third.id)).status, 200);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? lower(one.token, two.id) : lower(two.token, one.id),
      ),
    );
    const list = await at.call('GET', '/api/users?expand=resources', { token: at.ownerKey() });
    const admins = (list.json()['resources'] as { name: string; role: string; disabled: boolean }[]).filter(
      ({ disabled, role }) => role === 'admin' && !disabled,
    );
    assert.ok(admins.length >= 1, 'an admin remains');
    const back = await at.call('PATCH', `/api/users/${third.id}`, {
      token: at.ownerKey(),
      body: { role: 'admin' },
    });
    assert.equal(back.status, 200, back.text);
  });

  it('SC-18 have passwords that are not guessed first, of any length that can be remembered', async () => {
    const weak = [
      '',
      'short',
      '1234567',
      'password',
      'Password1',
      '12345678',
      'qwertyuiop',
      'aaaaaaaaaaaa',
      'modelgate',
      'Gateway2026!',
      'iloveyou',
      'x'.repeat(129),
      'weak-name',
    ];
    for (const password of weak) {
      const reply = await create({ name: 'weak-name', role: 'viewer', password });
      refused(reply, 400, 'bad_request');
      assert.equal(password.length > 8 && reply.text.includes(password), false);
    }
    const long = `${'a long pass phrase, '.repeat(6)}the end.`;
    assert.ok(long.length === 128);
    for (const [name, password] of [
      ['long-64', long.slice(64)],
      ['long-128', long],
    ] as const)
      assert.equal((await create({ name, role: 'viewer', password })).status, 200);
    await at.login('long-128', long);
    // Its twin in the first 72 bytes, which is where bcrypt stops reading.
    challenged(
      await at.call('GET', '/api', { basic: ['long-128', `${long.slice(0, 72)}${'z'.repeat(56)}`] }),
    );
    challenged(await at.call('GET', '/api', { basic: ['long-128', long.slice(0, 127)] }));
  });

  it('AC-25 may have any character in a password; the first colon ends the name', async () => {
    const password = 'p:ä:𝄞 — ünïcode:';
    assert.equal((await create({ name: 'poly', role: 'viewer', password })).status, 200);
    await at.login('poly', password);
  });

  it('SC-33 are created from permitted fields only', async () => {
    const base = { name: 'extra', role: 'viewer', password: passwordOf('extra') };
    const extras = [
      { id: '7' },
      { guid: 'x' },
      { is_admin: true },
      { credential_version: 9 },
      { created_at: '2001-01-01T00:00:00Z' },
      { permissions: ['*'] },
      { disabled: false },
      { last_login_at: null },
      { password_hash: 'x' },
    ];
    for (const extra of extras) refused(await create({ ...base, ...extra }), 400, 'bad_request');
    for (const role of ['root', 'ADMIN', '', null, 7, ['admin'], { role: 'admin' }])
      refused(await create({ ...base, role }), 400, 'bad_request');
    for (const name of [
      '',
      'a b',
      'a:b',
      'a\nb',
      '\u001b[31m',
      'x'.repeat(65),
      '../x',
      7,
      null,
      ['x'],
      'local\0',
    ])
      refused(await create({ ...base, name }), 400, 'bad_request');
  });

  it('SC-04 see themselves; only admins see the others', async () => {
    const [one, two] = await Promise.all([
      at.person('private-a', 'operator'),
      at.person('private-b', 'viewer'),
    ]);
    const list = await at.call('GET', '/api/users?expand=resources', { token: one.token });
    const names = (list.json()['resources'] as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(names, ['private-a']);
    assert.equal(list.json()['count'], 1);
    const hidden = await at.call('GET', `/api/users/${two.id}`, { token: one.token });
    const absent = await at.call('GET', '/api/users/user_nope', { token: one.token });
    assert.ok(hidden.status === 403 || hidden.status === 404, hidden.text);
    const plain = (text: string) => text.replaceAll(/req_[\w-]+|user_[\w-]+/g, 'ID');
    assert.equal(plain(hidden.text), plain(absent.text), 'what is hidden looks like what is not there');
    assert.equal((await at.call('GET', `/api/users/${one.id}`, { token: one.token })).status, 200);
    assert.doesNotMatch(list.text, /scrypt|credential_version|"password"/);
  });

  it('SC-65 can be changed only right after a login with a password', async () => {
    const vic = await at.person('subject', 'viewer');
    const token = await at.login('admin');
    at.advance(301);
    const tries = [
      await at.call('POST', '/api/users', {
        token,
        body: { name: 'late', role: 'viewer', password: passwordOf('late') },
      }),
      await at.call('PATCH', `/api/users/${vic.id}`, { token, body: { role: 'admin' } }),
      await at.call('DELETE', `/api/users/${vic.id}`, { token }),
      await act(token, vic, 'set_password', { password: 'quite another secret' }),
      await act(token, vic, 'disable'),
    ];
    for (const reply of tries) {
      refused(reply, 403, 'forbidden');
      assert.equal(codeOf(reply), 'reauthentication_required');
    }
    await at.login('subject');
  });
});
