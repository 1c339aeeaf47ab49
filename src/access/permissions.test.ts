import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasFreshLogin, holdsPermission, mayBeScope, needsFresh, roleHas } from './permissions.ts';

describe('a permission', () => {
  it('is held from its role upwards, and by nobody when it is unknown', () => {
    assert.deepEqual(
      (['viewer', 'operator', 'admin'] as const).map((role) => roleHas(role, 'services:operate')),
      [false, true, true],
    );
    for (const unknown of ['', '*', 'services:*', 'constructor', '__proto__'])
      assert.equal(roleHas('admin', unknown), false, unknown);
  });

  it('is narrowed by scopes, which add nothing', () => {
    assert.equal(holdsPermission('operator', null, 'services:operate'), true);
    assert.equal(holdsPermission('operator', ['services:operate'], 'services:operate'), true);
    assert.equal(holdsPermission('operator', ['services:read'], 'services:operate'), false);
    assert.equal(holdsPermission('viewer', ['services:operate'], 'services:operate'), false);
    assert.equal(holdsPermission('admin', ['users:read'], 'users:read'), false, 'no token may');
    assert.deepEqual(
      [mayBeScope('users:read'), mayBeScope('keys:read'), mayBeScope('x')],
      [false, true, false],
    );
  });

  it('that decides over rights and secrets, and one that is unknown, needs a fresh login', () => {
    for (const permission of ['users:update', 'backups:restore', 'secrets:reveal', 'nonsense', 'constructor'])
      assert.equal(needsFresh(permission), true, permission);
    for (const permission of ['users:read', 'keys:create', 'self:update'])
      assert.equal(needsFresh(permission), false, permission);
  });
});

describe('a login', () => {
  it('is fresh for five minutes after its password, and for the owner of the machine always', () => {
    const at = 1_800_000_000_000;
    const fresh = (passwordAt: number | null, via = 'token') => hasFreshLogin({ via, passwordAt }, at);
    assert.deepEqual([fresh(at), fresh(at - 300_000), fresh(at - 300_001)], [true, true, false]);
    assert.equal(fresh(null), false);
    assert.equal(hasFreshLogin({ via: 'token', passwordAt: null }, 1000), false, 'whatever the clock says');
    assert.equal(fresh(null, 'local'), true);
  });
});
