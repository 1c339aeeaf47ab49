import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashPassword, isOutdated, unmatchableHash, verifyPassword } from './password.ts';
import { createPasswords } from './passwords.ts';

describe('hashing of passwords', () => {
  it('runs two at a time and refuses what would wait too long', async () => {
    let busy = 0;
    let most = 0;
    const work = async () => {
      busy += 1;
      most = Math.max(most, busy);
      await new Promise((resolve) => setTimeout(resolve, 2));
      busy -= 1;
    };
    const passwords = createPasswords({
      work: {
        hash: () => work().then(() => 'x'),
        verify: async () => {
          await work();
          throw new Error('broken');
        },
      },
    });
    const all = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        index % 2 ? passwords.hash('a') : passwords.verify('a', 'b'),
      ),
    );
    const turnedAway = all.filter(
      (one) => one.status === 'rejected' && Object(one.reason)['code'] === 'rate_limit_exceeded',
    );
    assert.equal(most, 2);
    assert.equal(turnedAway.length, 190);
    assert.ok(turnedAway.every((one) => one.status === 'rejected' && one.reason.retryAfter > 0));
    assert.equal(await passwords.hash('a'), 'x', 'places of failed ones are free again');
  });

  it('has a dummy hash that no password matches, computed like any other', async () => {
    const nobody = unmatchableHash();
    assert.equal(isOutdated(nobody), false);
    assert.equal(isOutdated('$scrypt$ln=14,r=8,p=1$c2FsdA$aGFzaA'), true);
    assert.equal(nobody.length, (await hashPassword('a')).length);
    assert.equal(await verifyPassword('', nobody), false);
  });

  it('does not truncate long passwords', async () => {
    const long = 'x'.repeat(127);
    assert.equal(await verifyPassword(`${long}b`, await hashPassword(`${long}a`)), false);
  });
});
