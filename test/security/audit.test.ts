import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { waitFor } from '../support/gateway/gateway.ts';
import { firstResult, managed, passwordOf, refused } from '../support/management/management.ts';

interface AuditRow {
  seq: number;
  request_id: string | null;
  actor: {
    id: string | null;
    name: string | null;
    role: string | null;
    via: string;
    token_id: string | null;
  };
  address: string | null;
  action: string;
  target: string | null;
  outcome: string;
  reason: string | null;
}

describe('the audit log', () => {
  const at = managed();
  const folder = () => join(at.gateway.dataDir, 'audit');
  const everyLine = () =>
    readdirSync(folder())
      .map((name) => readFileSync(join(folder(), name), 'utf8'))
      .join('');
  const rowOf = async (requestId: string | undefined, what = 'a request'): Promise<AuditRow> => {
    assert.ok(requestId);
    const query = `filter[]=${encodeURIComponent(`request_id='${requestId}'`)}&expand=resources`;
    let rows: AuditRow[] = [];
    await waitFor(`the record of ${what}`, async () => {
      const reply = await at.call('GET', `/api/audit?${query}`, { token: at.ownerKey() });
      assert.equal(reply.status, 200, reply.text);
      const all = reply.json()['resources'] as AuditRow[];
      // What decides over rights is recorded before it is done as well.
      rows = all.filter(({ outcome }) => outcome !== 'intended');
      return rows.length > 0;
    });
    assert.equal(rows.length, 1, `one record: ${JSON.stringify(rows)}`);
    const [row] = rows;
    assert.ok(row);
    return row;
  };

  it('SC-46 has one record of everything that matters, with who did it', async () => {
    const alice = await at.person('alice', 'admin');
    const { token } = alice;
    const vic = await at.person('vic', 'viewer');
    const post = (path: string, body: object, who = token) => at.call('POST', path, { token: who, body });
    const key = firstResult(await post('/api/keys', { name: 'audited' }));
    const login = await at.call('GET', '/api/auth', { basic: ['vic', vic.password] });
    const made = String(login.json()['auth_token']);
    const expected: [string, string, Awaited<ReturnType<typeof at.call>>][] = [
      ['auth.login', 'success', login],
      ['auth.logout', 'success', await at.call('DELETE', '/api/auth', { token: made })],
      ['auth.refused', 'denied', await at.call('GET', '/api/auth', { basic: ['vic', 'wrong'] })],
      ['auth.refused', 'denied', await at.call('GET', '/api', { token: 'badtoken' })],
      ['auth.refused', 'denied', await at.call('POST', '/api/setup', { body: { code: 'x', password: 'y' } })],
      ['request.refused', 'denied', await at.call('GET', '/api', { token, host: 'evil.example' })],
      [
        'request.refused',
        'denied',
        await at.call('POST', '/api/keys', { token, body: {}, headers: { origin: 'null' } }),
      ],
      ['keys.create', 'success', await post('/api/keys', { name: 'audited too' })],
      [
        'keys.edit',
        'success',
        await at.call('PATCH', `/api/keys/${key['id']}`, { token, body: { name: 'renamed' } }),
      ],
      ['keys.rotate', 'success', await post(`/api/keys/${key['id']}`, { action: 'rotate' })],
      ['keys.disable', 'success', await post(`/api/keys/${key['id']}`, { action: 'disable' })],
      ['keys.delete', 'success', await at.call('DELETE', `/api/keys/${key['id']}`, { token })],
      ['users.delete', 'failure', await at.call('DELETE', `/api/users/${alice.id}`, { token })],
      ['keys.create', 'denied', await post('/api/keys', { name: 'not allowed' }, vic.token)],
      ['users.read', 'denied', await at.call('GET', `/api/users/${alice.id}`, { token: vic.token })],
      [
        'users.create',
        'success',
        await post('/api/users', { name: 'audited', role: 'viewer', password: passwordOf('audited') }),
      ],
      [
        'users.edit',
        'success',
        await at.call('PATCH', `/api/users/${vic.id}`, { token, body: { role: 'operator' } }),
      ],
      [
        'users.set_password',
        'success',
        await post(`/api/users/${vic.id}`, {
          action: 'set_password',
          resource: { password: 'quite another secret' },
        }),
      ],
      ['users.disable', 'success', await post(`/api/users/${vic.id}`, { action: 'disable' })],
      ['users.delete', 'success', await at.call('DELETE', `/api/users/${vic.id}`, { token })],
      ['tokens.create', 'success', await post('/api/tokens', { name: 'audited', scopes: ['services:read'] })],
      ['services.test', 'success', await post('/api/services/store', { action: 'test' })],
    ];
    for (const [action, outcome, reply] of expected) {
      const row = await rowOf(reply.header('x-request-id'), `${action} ${outcome}, ${reply.status}`);
      assert.equal(row.action, action, `${action}: ${reply.status} ${reply.text}`);
      assert.equal(row.outcome, outcome, `${action}: ${reply.status} ${reply.text}`);
      assert.equal(row.address, '127.0.0.1');
      if (outcome !== 'success') assert.equal(typeof row.reason, 'string');
      if (outcome === 'success')
        assert.ok(row.actor.id !== null && row.actor.role !== null, JSON.stringify(row));
      if (!action.startsWith('auth.') && outcome === 'success') assert.equal(row.actor.name, 'alice');
    }
  });

  it('SC-46 has the first admin', async () => {
    const reply = await at.call('GET', "/api/audit?expand=resources&filter[]=action='auth.setup'", {
      token: at.ownerKey(),
    });
    const rows = reply.json()['resources'] as AuditRow[];
    assert.deepEqual(
      rows.map(({ outcome, target }) => [target, outcome]),
      [['admin', 'success']],
    );
  });

  it('AC-46 and SC-07 has no secret in it', async () => {
    const token = await at.login('alice');
    const secret = 'upstream-secret-7Qz';
    const connection = await at.call('POST', '/api/connections', {
      token,
      body: {
        provider: 'openai-compatible',
        name: 'secretive',
        base_url: 'http://127.0.0.1:9',
        api_key: secret,
      },
    });
    assert.equal(connection.status, 200, connection.text);
    const key = String(
      firstResult(await at.call('POST', '/api/keys', { token, body: { name: 'hidden' } }))['key'],
    );
    const automation = String(
      firstResult(
        await at.call('POST', '/api/tokens', { token, body: { name: 'hidden', scopes: ['keys:read'] } }),
      )['token'],
    );
    await at.call('GET', '/api', { token: 'gws_a-wrong-token-of-mine' });
    await rowOf(
      (await at.call('GET', '/api', { basic: ['alice', 'a-wrong-password-of-mine'] })).header('x-request-id'),
    );
    const text = everyLine();
    for (const [name, value] of Object.entries({
      token,
      secret,
      key,
      automation,
      password: passwordOf('alice'),
      typed: 'a-wrong-password-of-mine',
      guessed: 'a-wrong-token-of-mine',
      changed: 'quite another secret',
    }))
      assert.equal(text.includes(value), false, `${name} stands in the audit log`);
    const { stderr, stdout } = at.gateway.output();
    for (const value of [token, secret, key, automation])
      assert.equal(`${stderr}${stdout}`.includes(value), false);
    for (const path of [
      '/api/connections?expand=resources',
      '/api/connections',
      '/api/audit?expand=resources',
      '/api/settings?expand=resources',
    ])
      assert.equal((await at.call('GET', path, { token })).text.includes(secret), false, `AC-78 ${path}`);
  });

  it('SC-42 cannot be forged by line breaks in values', async () => {
    const token = await at.login('alice');
    const evil = 'x\r\n{"seq":1,"action":"forged"}\u001b[31m\u2028\u0085';
    for (const name of [evil, `a${evil}`]) {
      await at.call('POST', '/api/keys', { token, body: { name } });
      await at.call('POST', '/api/users', {
        token,
        body: { name, role: 'viewer', password: passwordOf('x') },
      });
      await at.call('PATCH', `/api/keys/${encodeURIComponent(name)}`, { token, body: { name } });
      await at.call('DELETE', `/api/users/${encodeURIComponent(name)}`, { token });
      await at.call('GET', '/api', { basic: [name, 'x'] });
    }
    await rowOf((await at.call('GET', '/api', { token: 'badtoken' })).header('x-request-id'));
    for (const line of everyLine().split('\n').slice(0, -1)) {
      const record = JSON.parse(line) as AuditRow;
      assert.notEqual(record.action, 'forged');
      for (const character of line)
        assert.ok(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(character), JSON.stringify(character));
    }
    assert.doesNotMatch(at.gateway.output().stderr, /\u001b\[31m|^\{"seq":1,"action":"forged"/m);
  });

  it('SC-04 is shown to admins, and to nobody else', async () => {
    for (const role of ['viewer', 'operator'] as const)
      refused(
        await at.call('GET', '/api/audit', { token: (await at.person(`no-${role}`, role)).token }),
        403,
      );
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      refused(await at.call(method, '/api/audit/1', { token: await at.login('alice'), body: {} }), 400);
  });

  it('SC-60 and everything else in the data directory is for its owner alone', () => {
    const { dataDir } = at.gateway;
    assert.equal(statSync(dataDir).mode & 0o077, 0, 'the directory');
    for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
      // Whoever wrote it here is the test.
      if (name === 'config.json') continue;
      // A journal of SQLite may be gone by now.
      const mode = statSync(join(dataDir, name), { throwIfNoEntry: false })?.mode ?? 0;
      assert.equal(mode & 0o077, 0, `${name} has mode ${(mode & 0o777).toString(8)}`);
    }
  });

  it('SC-46 reveals tampering', async () => {
    const sound = await at.gateway.cli('audit', 'verify', '--json');
    assert.equal(sound.code, 0, sound.stderr);
    assert.equal((JSON.parse(sound.stdout) as { ok: boolean }).ok, true);
    await at.gateway.kill();
    const [name = ''] = readdirSync(folder());
    const path = join(folder(), name);
    const text = readFileSync(path, 'utf8');
    const lines = text.split('\n');
    const forgeries: Record<string, string> = {
      changed: text.replace('"auth.setup"', '"auth.login"'),
      removed: lines.filter((_, index) => index !== 3).join('\n'),
      swapped: [lines[1], lines[0], ...lines.slice(2)].join('\n'),
      repeated: [lines[0], ...lines].join('\n'),
      beheaded: lines.slice(1).join('\n'),
    };
    for (const [what, forged] of Object.entries(forgeries)) {
      assert.notEqual(forged, text);
      writeFileSync(path, forged);
      const found = await at.gateway.cli('audit', 'verify', '--json');
      assert.equal(found.code, 1, what);
    }
    writeFileSync(path, text);
    assert.equal((await at.gateway.cli('audit', 'verify', '--json')).code, 0);
    await at.gateway.restart();
    await at.login('alice');
    assert.equal((await at.gateway.cli('audit', 'verify', '--json')).code, 0);
  });
});
