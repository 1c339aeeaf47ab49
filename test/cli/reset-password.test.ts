import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { verifyPassword } from '../../src/access/passwords/password.ts';
import { openTokens } from '../../src/access/tokens/tokens.ts';
import { userStore } from '../../src/access/users/users.ts';
import { openStore } from '../../src/store/database.ts';
import { createSandbox, type Sandbox } from './run.ts';

const password = 'correct horse battery';

describe('reset-password', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await createSandbox();
  });
  afterEach(() => sandbox.close());

  const reset = (args: string[], stdin = `${password}\n`) =>
    sandbox.run(['reset-password', ...args, '--password-stdin', '--json'], { stdin });

  it('sets the password of a user and ends all their tokens', async () => {
    const store = await openStore(sandbox.dataDir);
    const users = userStore(store);
    const tokens = await openTokens(store);
    try {
      await users.setAdminPassword('old');
      const { id = '' } = (await users.find('admin')) ?? {};
      const hour = Date.now() + 3_600_000;
      await tokens.issue({
        userId: id,
        credentialVersion: 1,
        roleVersion: 1,
        kind: 'api',
        expiresAt: hour,
        maxExpiresAt: hour,
        ttlSeconds: 3600,
        authAt: 0,
      });
      const ran = await reset([]);
      assert.equal(ran.code, 0, ran.stderr);
      assert.deepEqual(ran.json(), { reset: true, user: { id, name: 'admin', disabled: false } });
      assert.equal(`${ran.stdout}${ran.stderr}`.includes(password), false);
      const user = await users.find('admin');
      assert.equal(user?.credentialVersion, 2);
      assert.equal(await verifyPassword(password, user?.password ?? ''), true);
      assert.deepEqual(await store.db.selectFrom('tokens').selectAll().execute(), []);
    } finally {
      await tokens.close();
      await store.close();
    }
  });

  it('says what is wrong and changes nothing', async () => {
    const missing = await reset([]);
    assert.deepEqual([missing.code, Object(missing.json()['error'])['code']], [1, 'not_found']);
    assert.match(missing.stderr, /gateway setup/);
    const store = await openStore(sandbox.dataDir);
    const users = userStore(store);
    try {
      await users.setAdminPassword('old');
      assert.equal((await reset(['nobody'])).code, 1);
      const weak = await reset(['ADMIN'], 'password1');
      assert.equal(weak.code, 2);
      assert.match(weak.stderr, /tried first/);
      const silent = await sandbox.run(['reset-password', '--non-interactive']);
      assert.equal(silent.code, 2);
      assert.match(silent.stderr, /--password-stdin/);
      assert.equal((await users.find('admin'))?.password, 'old');
    } finally {
      await store.close();
    }
  });
});
