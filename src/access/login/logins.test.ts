import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { openStore } from '../../store/database.ts';
import { verifyPassword } from '../passwords/password.ts';
import { createPasswords } from '../passwords/passwords.ts';
import { createUserIndex } from '../users/user-index.ts';
import { userStore } from '../users/users.ts';
import { createLogins } from './logins.ts';
import { openLoginThrottle } from './throttle.ts';

/** `secret`, hashed with N = 2^4. */
const cheap = '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$';

async function opened(test: TestContext) {
  const store = await openStore(temporaryFolder(test));
  const clock = { time: 1_800_000_000_000 };
  const now = () => clock.time;
  const throttle = await openLoginThrottle(store, { now });
  test.after(async () => {
    await throttle.close();
    await store.close();
  });
  const users = userStore(store, now);
  const { scryptSync } = await import('node:crypto');
  const digest = scryptSync('secret', 'saltsaltsaltsalt', 32, { N: 16, r: 8, p: 1 })
    .toString('base64')
    .replace(/=+$/, '');
  const alice = await users.add({
    name: 'alice',
    displayName: null,
    role: 'admin',
    password: `${cheap}${digest}`,
  });
  let checked = 0;
  const passwords = createPasswords();
  const { rehash } = users;
  const logins = createLogins({
    users: createUserIndex(store),
    throttle,
    rehash,
    now,
    passwords: {
      hash: passwords.hash,
      verify(password, phc) {
        checked += 1;
        return passwords.verify(password, phc);
      },
    },
  });
  const login = async (password: string) =>
    (await logins.login({ name: 'alice', password }, '10.0.0.1'))?.id === alice.id;
  return { alice, clock, login, users, checked: () => checked };
}

describe('logins', () => {
  it('replace an outdated hash by a current one', async (test) => {
    const { alice, login, users } = await opened(test);
    assert.equal(await login('wrong'), false);
    assert.equal((await users.find(alice.id))?.password, alice.password);
    assert.equal(await login('secret'), true);
    const hashed = async () => (await users.find(alice.id))?.password ?? '';
    while ((await hashed()) === alice.password) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.match(await hashed(), /^\$scrypt\$ln=17,/);
    assert.equal(await verifyPassword('secret', await hashed()), true);
    assert.equal(
      (await users.find(alice.id))?.credentialVersion,
      alice.credentialVersion,
      'no token ends by it',
    );
    assert.equal(await login('secret'), true);
  });

  it('remember a proven password for a minute, and no wrong one', async (test) => {
    const { alice, checked, clock, login, users } = await opened(test);
    await login('secret');
    while (!(await users.find(alice.id))?.password.includes('ln=17'))
      await new Promise((resolve) => setTimeout(resolve, 20));
    await login('secret');
    const before = checked();
    for (let index = 0; index < 10; index++) assert.equal(await login('secret'), true);
    assert.equal(checked(), before);
    assert.equal(await login('wrong'), false);
    assert.equal(checked(), before + 1);
    clock.time += 60_000;
    assert.equal(await login('secret'), true);
    assert.equal(checked(), before + 2);
    await users.disable(alice.id).catch(() => users.setPassword(alice.id, 'nothing'));
    assert.equal(await login('secret'), false, 'a changed credential is not remembered');
  });

  it('verify the password once when the same login comes many times at once', async (test) => {
    const { checked, login } = await opened(test);
    const all = await Promise.all(Array.from({ length: 100 }, () => login('secret')));
    assert.ok(all.every(Boolean));
    assert.equal(checked(), 1);
  });
});
