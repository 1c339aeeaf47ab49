import assert from 'node:assert/strict';
import { it } from 'node:test';
import { firstResult, managed } from '../support/management/management.ts';

const at = managed();
const DAY = 86_400;

it('lets the admin in after the clock was set back, and ends tokens that would last longer for it', async () => {
  const basic = ['admin', at.admin.password] as const;
  const login = () => at.call('GET', '/api/auth', { basic });
  const before = await login();
  assert.equal(before.status, 200);
  const automation = firstResult(
    await at.call('POST', '/api/tokens', {
      token: String(before.json()['auth_token']),
      body: { name: 'nightly', scopes: ['keys:read'] },
    }),
  );
  // A minute's correction is an everyday event.
  at.advance(-30);
  const session = { token: String(before.json()['auth_token']) };
  assert.equal((await at.call('GET', '/api/keys', session)).status, 200);
  at.advance(-DAY);
  assert.equal((await at.call('GET', '/api/keys', session)).status, 401, 'it would live a day too long');
  const after = await login();
  assert.equal(after.status, 200, after.text);
  const token = String(after.json()['auth_token']);
  // The password was set in what is the future now.
  const made = await at.call('POST', '/api/keys', { token, body: { name: 'made-after' } });
  assert.equal(made.status, 200, made.text);
  const renewed = await at.call('GET', '/api/auth', { token });
  assert.equal(renewed.status, 200, renewed.text);
  const robot = await at.call('GET', '/api/keys', { token: String(automation['token']) });
  assert.equal(robot.status, 200, robot.text);
  at.advance(DAY + 30);
  assert.equal((await at.call('GET', '/api/keys', { token })).status, 401, 'its time is over');
  assert.equal((await login()).status, 200);
});

it('does not extend a pause when the clock is set back during it', async () => {
  const guess = () => at.call('GET', '/api/auth', { basic: ['nobody', 'wrong'] });
  let reply = await guess();
  for (let count = 0; count < 10 && reply.status !== 429; count += 1) reply = await guess();
  assert.equal(reply.status, 429);
  at.advance(-DAY);
  const wait = Number((await guess()).header('retry-after'));
  assert.ok(wait > 0 && wait <= 60, `retry-after: ${wait}`);
  at.advance(DAY);
});
