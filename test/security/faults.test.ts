import assert from 'node:assert/strict';
import { readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codeOf, firstResult, managed, refused } from '../support/management/management.ts';

describe('when something breaks inside of the gateway', () => {
  const at = managed();
  const get = (path: string) => at.call('GET', path, { token: at.admin.token });
  const alive = async () => assert.equal((await get('/api/keys')).status, 200);

  it('SC-43 and SC-44 a fault in a handler is a 500 without details, and the process continues', async () => {
    await alive();
    at.fault({ sql: 'keys|connections|tasks', as: 'bug' });
    try {
      for (const [method, path] of [
        ['GET', '/api/keys/1'],
        ['GET', '/api/connections?expand=resources'],
        ['POST', '/api/keys'],
        ['PATCH', '/api/keys/1'],
        ['DELETE', '/api/keys/1'],
        ['GET', '/api/tasks/x'],
      ] as const) {
        const body = method === 'GET' ? {} : { body: { name: 'x' } };
        const reply = await at.call(method, path, { token: at.admin.token, ...body });
        refused(reply, 500, 'internal_server_error');
        assert.doesNotMatch(reply.text, /planted|secret|TypeError|keys"/);
      }
      const bulk = { action: 'disable', resources: [{ id: '1' }, { id: '2' }] };
      const many = await at.call('POST', '/api/keys', { token: at.admin.token, body: bulk });
      assert.equal(many.status, 200);
      assert.doesNotMatch(many.text, /planted|secret|TypeError/);
    } finally {
      at.fault(null);
    }
    await alive();
    assert.match(at.gateway.output().stderr, /the management API failed/, 'the log has it');
  });

  it('SC-45 lets nobody in while users cannot be read', async () => {
    at.fault({ sql: '.', as: 'disk' });
    try {
      for (const call of [
        { basic: ['admin', at.admin.password] },
        { basic: ['admin', 'wrong'] },
        { token: at.admin.token },
        { token: 'badtoken' },
        { token: at.ownerKey() },
      ] as const) {
        for (const path of ['/api/auth', '/api/keys', '/api/users', '/api/services']) {
          const reply = await at.call('GET', path, call);
          // 403: the key of the run file is in no database, and is no login.
          assert.ok([401, 403, 429, 503].includes(reply.status), `${path}: ${reply.status} ${reply.text}`);
          refused(reply, reply.status);
          if (reply.status === 503) assert.equal(codeOf(reply), 'store_unavailable');
          assert.doesNotMatch(reply.text, /auth_token|disk|sqlite/i);
        }
      }
      assert.equal((await at.call('GET', '/readyz')).status, 503);
    } finally {
      at.fault(null);
    }
    await alive();
  });

  it('SC-47 does nothing that must be recorded while the disk of the audit log is full', async () => {
    const folder = join(at.gateway.dataDir, 'audit');
    const token = await at.login('admin');
    const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
    const [file, aside] = [join(folder, name), join(folder, 'aside')];
    const vic = await at.person('vic', 'viewer');
    const key = firstResult(await at.call('POST', '/api/keys', { token, body: { name: 'before' } }));
    renameSync(file, aside);
    // Takes nothing: ENOSPC.
    symlinkSync('/dev/full', file);
    try {
      for (const [method, path, body] of [
        ['POST', '/api/keys', { name: 'unrecorded' }],
        ['POST', `/api/keys/${key['id']}`, { action: 'rotate' }],
        ['PATCH', `/api/users/${vic.id}`, { role: 'admin' }],
        ['POST', '/api/users', { name: 'unrecorded', role: 'admin', password: 'quite a long secret' }],
        ['POST', '/api/tokens', { name: 'unrecorded', scopes: ['keys:read'] }],
        ['POST', '/api/backups', {}],
      ] as const) {
        const reply = await at.call(method, path, { token, body });
        refused(reply, 503);
        assert.equal(codeOf(reply), 'audit_unavailable', path);
        assert.doesNotMatch(reply.text, /sk-|gwa_/, 'no secret is given out');
      }
      const exported = await at.gateway.cli('auth', 'export', '--yes');
      assert.notEqual(exported.code, 0, exported.stdout);
      assert.equal((await at.call('GET', '/api/keys', { token })).status, 200, 'reading goes on');
      const users = await at.call('GET', '/api/users?expand=resources', { token });
      assert.doesNotMatch(users.text, /unrecorded/);
      const shown = await at.call('GET', `/api/users/${vic.id}`, { token });
      assert.equal(shown.json()['role'], 'viewer', 'the role is what it was');
    } finally {
      rmSync(file);
      renameSync(aside, file);
    }
    const after = await at.call('PATCH', `/api/users/${vic.id}`, { token, body: { role: 'operator' } });
    assert.equal(after.status, 200, after.text);
    const verified = await at.gateway.cli('audit', 'verify', '--json');
    assert.equal(verified.code, 0, verified.stdout);
  });
});
