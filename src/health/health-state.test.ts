import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { faults } from './faults.ts';
import {
  type HealthEvent,
  type HealthState,
  isOver,
  MAX_RETRY_AFTER_MS,
  next,
  type Penalty,
  PROBE_MS,
} from './health-state.ts';

const pause: Penalty = {
  to: 'cooling',
  reason: 'server error',
  baseMs: 1000,
  capMs: 60_000,
  upstreamRetryAt: null,
};
const failed = (begunAt: number, penalty: Penalty = pause): HealthEvent => ({
  type: 'failed',
  begunAt,
  penalty: penalty,
});
const after = (steps: readonly (readonly [now: number, happening: HealthEvent])[]): HealthState | null =>
  steps.reduce<HealthState | null>(
    (healthState, [now, happening]) => next(healthState, happening, now),
    null,
  );

describe('the health state of an account', () => {
  it('cools for twice as long after each failure of a probe, up to the cap, and is ready after a success', () => {
    let healthState: HealthState | null = null;
    let now = 0;
    const waits: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      healthState = next(healthState, { type: 'begun' }, now);
      healthState = next(healthState, failed(now), now);
      assert.ok(healthState?.state === 'cooling');
      waits.push(healthState.until - now);
      now = healthState.until;
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    healthState = next(healthState, { type: 'begun' }, now);
    assert.equal(healthState?.state, 'probing');
    assert.equal(next(healthState, { type: 'succeeded', begunAt: now }, now + 5), null);
  });

  it('counts requests that failed together once', () => {
    const healthState = after([10, 11, 12, 13].map((at) => [100 + at, failed(at)]));
    assert.deepEqual(healthState, {
      state: 'cooling',
      since: 110,
      until: 1110,
      namedByUpstream: false,
      failures: 1,
      reason: 'server error',
    });
  });

  it('follows the wait that the upstream names, up to a bound', () => {
    const pauseUntil = (at: number): Penalty => ({ ...pause, upstreamRetryAt: at });
    const healthState = after([[1000, failed(0, pauseUntil(18_000))]]);
    assert.ok(healthState !== null && 'until' in healthState);
    assert.deepEqual([healthState.until, healthState.namedByUpstream], [18_000, true]);
    const absurd = after([[1000, failed(0, pauseUntil(1e15))]]);
    assert.ok(absurd !== null && 'until' in absurd);
    assert.equal(absurd.until, 1000 + MAX_RETRY_AFTER_MS.cooling);
    const past = after([[1000, failed(0, pauseUntil(900))]]);
    assert.ok(past !== null && 'until' in past);
    assert.deepEqual([past.until, past.namedByUpstream], [2000, false]);
  });

  it('does not recover by an answer to a request from before the failure', () => {
    const healthState = after([
      [50, failed(10)],
      [60, { type: 'succeeded', begunAt: 20 }],
    ]);
    assert.equal(healthState?.state, 'cooling');
  });

  it('lets the next request probe when a probe is inconclusive', () => {
    const healthState = after([
      [0, failed(0)],
      [1000, { type: 'begun' }],
      [1100, { type: 'inconclusive', begunAt: 1000 }],
    ]);
    assert.ok(healthState !== null && isOver(healthState, 1100));
  });

  it('keeps the more severe state', () => {
    const refused: Penalty = { ...pause, to: 'needs-attention', reason: 'credential refused' };
    const healthState = after([
      [0, failed(0, refused)],
      [10, failed(5)],
    ]);
    assert.equal(healthState?.state, 'needs-attention');
    assert.equal(
      after([
        [0, failed(0)],
        [5, failed(1, refused)],
      ])?.state,
      'needs-attention',
    );
  });

  it('survives a clock that is put back', () => {
    const healthState = after([[1_000_000, failed(999_000)]]);
    assert.ok(healthState !== null && isOver(healthState, 500_000));
  });
});

const penalty: fc.Arbitrary<Penalty> = fc
  .constantFrom(...Object.values(faults))
  .chain(({ effect, label }) => {
    if (effect.to === 'none') return fc.constant(pause);
    const { baseMs = 0, capMs = 0 } = 'baseMs' in effect ? effect : {};
    return fc
      .option(fc.integer({ min: -3_600_000, max: 10 * 24 * 3_600_000 }), { nil: null })
      .map((ahead) => ({ to: effect.to, reason: label, baseMs, capMs, upstreamRetryAt: ahead }));
  });

type Step =
  | { do: 'ask'; last: boolean }
  | { do: 'end'; which: number; how: 'success' | 'nothing' | Penalty }
  | { do: 'pass'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('ask' as const), last: fc.boolean() }),
  fc.record({
    do: fc.constant('end' as const),
    which: fc.nat(20),
    how: fc.oneof(fc.constant('success' as const), fc.constant('nothing' as const), penalty),
  }),
  fc.record({
    do: fc.constant('pass' as const),
    ms: fc.oneof(fc.nat(5000), fc.nat(3_600_000), fc.integer({ min: -600_000, max: -1 })),
  }),
);

/** What any order of requests, answers and clock moves must leave true. */
function hold(steps: readonly Step[]): void {
  let now = 10_000_000;
  let healthState: HealthState | null = null;
  const open: { begunAt: number; probe: boolean }[] = [];
  for (const one of steps) {
    if (one.do === 'pass') now += one.ms;
    if (one.do === 'ask') {
      const may: boolean = healthState === null || isOver(healthState, now);
      if (!may && !one.last) continue;
      const before: HealthState | null = healthState;
      healthState = next(healthState, { type: 'begun' }, now);
      const probe = healthState?.state === 'probing' && before !== healthState;
      if (before !== null && may) assert.ok(probe, 'whoever comes after the pause is the probe');
      if (probe) assert.ok(!isOver(healthState as HealthState, now), 'there is one probe at a time');
      open.push({ begunAt: now, probe });
    }
    if (one.do === 'end') {
      const [request] = open.splice(one.which % Math.max(1, open.length), 1);
      if (request === undefined) continue;
      const { begunAt } = request;
      if (one.how === 'success') healthState = next(healthState, { type: 'succeeded', begunAt }, now);
      else if (one.how === 'nothing') healthState = next(healthState, { type: 'inconclusive', begunAt }, now);
      else {
        const retryAt = one.how.upstreamRetryAt === null ? null : now + one.how.upstreamRetryAt;
        healthState = next(
          healthState,
          { type: 'failed', begunAt, penalty: { ...one.how, upstreamRetryAt: retryAt } },
          now,
        );
        assert.notEqual(healthState, null);
      }
    }
    if (healthState !== null && 'until' in healthState) {
      const cap: number = healthState.namedByUpstream ? MAX_RETRY_AFTER_MS[healthState.state] : 60 * 60_000;
      assert.ok(healthState.until - healthState.since <= cap, 'no pause is longer than its cap');
    }
  }
  if (healthState === null || healthState.state === 'needs-attention') return;
  // Nothing sticks: when time goes on, a request is let through, and its success makes all well.
  const later = now + MAX_RETRY_AFTER_MS.exhausted + PROBE_MS;
  assert.ok(isOver(healthState, later));
  const probing = next(healthState, { type: 'begun' }, later);
  assert.equal(probing?.state, 'probing');
  assert.equal(next(probing, { type: 'succeeded', begunAt: later }, later + 1), null);
}

describe('the health state of an account after any sequence of events', () => {
  it('never sticks, never has two probes, and never pauses beyond its caps', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        hold(steps);
      }),
      { numRuns: 10_000 },
    );
  });
});
