import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSteadyClock } from './clock.ts';

describe('the clock for waits', () => {
  it('goes on when the system’s clock is set back, and follows it forward', () => {
    const at = { wall: 1_000_000, monotonic: 50 };
    const now = createSteadyClock(
      () => at.wall,
      () => at.monotonic,
    );
    const pass = (ms: number) => {
      at.wall += ms;
      at.monotonic += ms;
    };
    assert.equal(now(), 1_000_000);
    pass(10);
    assert.equal(now(), 1_000_010);
    at.wall -= 86_400_000;
    assert.equal(now(), 1_000_010, 'set back');
    pass(5);
    assert.equal(now(), 1_000_015);
    at.wall += 86_400_000;
    assert.equal(now(), 1_000_015, 'set right again');
    at.wall += 3_600_000;
    assert.equal(now(), 4_600_015, 'slept');
  });
});
