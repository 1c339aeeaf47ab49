import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { createWatchers } from './watchers.ts';

const login = (userId: string, until: number | null = null) => ({ userId, until, lasts: async () => true });

describe('watchers', () => {
  it('are limited for each user, and in total', () => {
    const { enter } = createWatchers();
    const leaves = Array.from({ length: 8 }, () => enter(login('a'), () => {}));
    assert.throws(() => enter(login('a'), () => {}), { code: 'rate_limit_exceeded' });
    for (let user = 0; user < 7; user += 1)
      for (let n = 0; n < 8; n += 1) leaves.push(enter(login(`user-${user}`), () => {}));
    assert.throws(() => enter(login('z'), () => {}), { code: 'rate_limit_exceeded' });
    for (const leave of leaves) leave();
    enter(login('a'), () => {})();
  });

  it('end with their login, even when it is ended early', async () => {
    const { enter } = createWatchers(() => 1_000);
    const ended: string[] = [];
    const leaves = [
      enter(login('over', 1_000), () => ended.push('over')),
      enter({ userId: 'out', until: null, lasts: async () => false }, () => ended.push('out')),
      enter({ userId: 'unknown', until: null, lasts: () => Promise.reject(new Error('no')) }, () =>
        ended.push('unknown'),
      ),
    ];
    await waitFor('all three', () => ended.length >= 3);
    assert.deepEqual([...new Set(ended)].sort(), ['out', 'over', 'unknown']);
    for (const leave of leaves) leave();
  });

  it('do not end at once if the login lasts longer than a timer can', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { enter } = createWatchers(() => 0);
    let ended = false;
    const leave = enter(login('a', 2_147_483_648), () => {
      ended = true;
    });
    t.mock.timers.tick(1_000);
    assert.equal(ended, false);
    leave();
  });
});
