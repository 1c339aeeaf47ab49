import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Retry } from '../config/config.ts';
import { longestRetryMs, retryDelay } from './backoff.ts';

const rule = (growth: Retry['growth'], delayMs = 1_000, max = 9): Retry => ({ max, delayMs, growth });

describe('the wait before a retry', () => {
  const delays = (retryRule: Retry, random = 0.5) =>
    [1, 2, 3, 4].map((nth) => retryDelay(retryRule, nth, 0, random));

  it('grows by the delay, or doubles', () => {
    assert.deepEqual(delays(rule('linear')), [1_000, 2_000, 3_000, 4_000]);
    assert.deepEqual(delays(rule('exponential')), [1_000, 2_000, 4_000, 8_000]);
  });

  it('is an hour at most, give or take a tenth', () => {
    assert.deepEqual(delays(rule('exponential', 3_000_000)), [3_000_000, 3_600_000, 3_600_000, 3_600_000]);
    assert.equal(retryDelay(rule('exponential'), 1_000_000, 0, 0.5), 3_600_000);
    assert.equal(retryDelay(rule('linear'), 1, 0, 0), 900);
    assert.equal(retryDelay(rule('linear'), 1, 0, 1), 1_100);
  });

  it('is never shorter than what the receiver asked for', () => {
    assert.equal(retryDelay(rule('linear'), 1, 5_000, 0), 5_000);
  });
});

describe('all waits of an event together', () => {
  it('are no longer than their sum plus jitter', () => {
    for (const [retry, ms] of [
      [rule('linear', 1_000, 3), 6_600],
      [rule('exponential', 1_000, 3), 7_700],
      [rule('exponential', 3_600_000, 1_000_000), 3_960_000_000_000],
      [rule('linear', 0, 1_000_000), 0],
      [rule('linear', 1_000, 0), 0],
    ] as const)
      assert.equal(longestRetryMs(retry), ms);
  });
});
