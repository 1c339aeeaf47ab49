import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../../test/support/machine/fake-clock.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { createRateLimit } from './rate-limit.ts';

const limitOf = (threshold: number, periodMs: number, now: () => number) => {
  const limit = createRateLimit({ name: '', scope: 'local', threshold, periodMs }, now);
  return () => {
    const answer = limit.ask();
    assert.ok(!(answer instanceof Promise));
    return answer;
  };
};

describe('a rate limit', () => {
  it('lets no more than its threshold pass in any window, wherever that begins', () => {
    const steps = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { maxLength: 200, size: 'max' });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), steps, (threshold, waits) => {
        const clock = createFakeClock();
        const ask = limitOf(threshold, 1_000, clock.now);
        const passed: number[] = [];
        for (const wait of waits) {
          clock.pass(wait);
          if (ask().kind === 'permit') passed.push(clock.now());
        }
        for (const [index, at] of passed.entries()) {
          const other = passed[index + threshold];
          assert.ok(
            other === undefined || other - at > 1_000 - 1e-6,
            `${threshold} + 1 within ${at}, ${other}`,
          );
        }
      }),
    );
  });

  it('lets as many pass as it may, when it is asked again at the time that it says', () => {
    const clock = createFakeClock();
    const ask = limitOf(10, 1_000, clock.now);
    let passed = 0;
    while (clock.now() < 100_000) {
      const answer = ask();
      if (answer.kind === 'permit') passed += 1;
      else clock.pass(answer.retryAfterMs);
    }
    assert.ok(passed >= 990, `${passed} of 1,000`);
  });

  it('stops counting a call that was not made', () => {
    const clock = createFakeClock();
    const ask = limitOf(1, 1_000, clock.now);
    const first = ask();
    assert.ok(first.kind === 'permit');
    first.permit.cancel();
    assert.equal(ask().kind, 'permit');
    assert.deepEqual(ask(), { kind: 'refused', retryAfterMs: 1_000 });
  });

  it('lets nothing pass with a threshold of 0', () => {
    assert.deepEqual(limitOf(0, 5_000, () => 0)(), { kind: 'refused', retryAfterMs: 5_000 });
  });

  it('remembers a million calls of a day in little memory', () => {
    const clock = createFakeClock();
    const ask = limitOf(1_000_000, 86_400_000, clock.now);
    for (let call = 0; call < 1_000_000; call += 1) {
      clock.pass(80);
      assert.equal(ask().kind, 'permit');
    }
    const answer = ask();
    assert.ok(answer.kind === 'refused' && answer.retryAfterMs <= 86_400_000 - 79_990_000);
  });
});
