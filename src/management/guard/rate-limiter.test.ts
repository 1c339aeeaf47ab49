import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { createRateLimiter } from './rate-limiter.ts';

describe('the rate of expensive requests', () => {
  it('allows a burst, and then one after the other', () => {
    let time = 0;
    const pace = createRateLimiter(() => time);
    for (let count = 0; count < 6; count++) pace.take('a', 6);
    assert.throws(
      () => pace.take('a', 6),
      (error) =>
        error instanceof GatewayError && error.code === 'rate_limit_exceeded' && error.retryAfter === 10,
    );
    pace.take('b', 6);
    time += 10_000;
    pace.take('a', 6);
    assert.throws(() => pace.take('a', 6));
  });

  it('never allows more than twice the limit in a minute', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(waits, fc.integer({ min: 1, max: 20 }), (pauses, perMinute) => {
        let time = 0;
        const pace = createRateLimiter(() => time);
        const done: number[] = [];
        for (const pause of pauses) {
          time += pause;
          try {
            pace.take('a', perMinute);
            done.push(time);
          } catch (error) {
            const seconds = (error as GatewayError).retryAfter ?? 0;
            assert.ok(seconds > 0);
            time += seconds * 1000;
            pace.take('a', perMinute);
            done.push(time);
          }
        }
        for (const [index, at] of done.entries()) {
          const within = done.slice(index).filter((later) => later < at + 60_000).length;
          assert.ok(within <= 2 * perMinute, `${within} of ${perMinute}`);
        }
      }),
    );
  });
});
