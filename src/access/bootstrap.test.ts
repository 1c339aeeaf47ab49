import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { basic, openAccess } from '../../test/support/management/access.ts';
import { setupCodePath } from './bootstrap.ts';

const password = 'a long enough password';
const address = '10.0.0.1';

describe('the first admin', () => {
  it('is created once, with a code from a file that only the owner can read', async (test) => {
    const access = await openAccess(test);
    const path = setupCodePath(access.dataDir);
    const { code = '' } = access.control.offer() ?? {};
    assert.match(code, /^[A-Za-z0-9_-]{27}$/);
    assert.equal(readFileSync(path, 'utf8'), `${code}\n`);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const setUp = () => access.control.setUp({ code, password }, address);
    const all = await Promise.allSettled(Array.from({ length: 10 }, setUp));
    const codes = all.map((one) => (one.status === 'fulfilled' ? 'made' : one.reason.code)).sort();
    assert.deepEqual(codes, [...Array(9).fill('conflict'), 'made']);
    assert.equal(existsSync(path), false);
    assert.equal(access.control.offer(), null);
    await assert.rejects(setUp(), { code: 'conflict' });
    assert.equal((await access.caller(basic('admin', password))).role, 'admin');
    await access.reopen();
    assert.equal(access.control.offer(), null);
  });

  it('needs the right code and a password that is not too weak', async (test) => {
    const access = await openAccess(test);
    const { code = '' } = access.control.offer() ?? {};
    const setUp = (setupCode: string, newPassword = password) =>
      access.control.setUp({ code: setupCode, password: newPassword }, address);
    await assert.rejects(setUp(code, 'password'), { code: 'invalid_request', param: 'password' });
    for (let index = 0; index < 5; index++)
      await assert.rejects(setUp(`wrong${index}`), { code: 'unauthorized' });
    await assert.rejects(setUp(code), { code: 'too_many_logins' });
    access.clock.time += 30_000;
    await setUp(code);
  });

  it('is created within an hour, and only while there is no other admin', async (test) => {
    const access = await openAccess(test);
    const { code = '' } = access.control.offer() ?? {};
    access.clock.time += 60 * 60_000;
    assert.equal(access.control.offer(), null);
    await assert.rejects(access.control.setUp({ code, password }, address), { code: 'unauthorized' });
    await access.reopen();
    const fresh = access.control.offer()?.code ?? '';
    assert.notEqual(fresh, code);
    await access.user('alice', 'admin');
    await assert.rejects(access.control.setUp({ code: fresh, password }, address), { code: 'conflict' });
  });

  it('leaves no code file after the gateway stops', async (test) => {
    const access = await openAccess(test);
    await access.control.close();
    assert.equal(existsSync(setupCodePath(access.dataDir)), false);
  });
});
