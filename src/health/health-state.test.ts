import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/properties.ts';
import { faults } from './faults.ts';
import {
  type HealthEvent,
  type HealthState,
  isOver,
  next,
  type Penalty,
  PROBE_MS,
  TOLD_CAP_MS,
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
  steps.reduce<HealthState | null>((standing, [now, happening]) => next(standing, happening, now), null);

describe('the standing of an account', () => {
  it('cools for twice as long after each failure of a probe, up to the cap, and is ready after a success', () => {
    let standing: HealthState | null = null;
    let now = 0;
    const waits: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      standing = next(standing, { type: 'begun' }, now);
      standing = next(standing, failed(now), now);
      assert.ok(standing?.state === 'cooling');
      waits.push(standing.until - now);
      now = standing.until;
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    standing = next(standing, { type: 'begun' }, now);
    assert.equal(standing?.state, 'probing');
    assert.equal(next(standing, { type: 'succeeded', begunAt: now }, now + 5), null);
  });

  it('counts requests that failed together once', () => {
    const standing = after([10, 11, 12, 13].map((at) => [100 + at, failed(at)]));
    assert.deepEqual(standing, {
      state: 'cooling',
      since: 110,
      until: 1110,
      told: false,
      failures: 1,
      reason: 'server error',
    });
  });

  it('does as the upstream says, up to a bound', () => {
    const told = (at: number): Penalty => ({ ...pause, upstreamRetryAt: at });
    const standing = after([[1000, failed(0, told(18_000))]]);
    assert.ok(standing !== null && 'until' in standing);
    assert.deepEqual([standing.until, standing.told], [18_000, true]);
    const absurd = after([[1000, failed(0, told(1e15))]]);
    assert.ok(absurd !== null && 'until' in absurd);
    assert.equal(absurd.until, 1000 + TOLD_CAP_MS.cooling);
    const past = after([[1000, failed(0, told(900))]]);
    assert.ok(past !== null && 'until' in past);
    assert.deepEqual([past.until, past.told], [2000, false]);
  });

  it('is not mended by an answer to a request from before the failure', () => {
    const standing = after([
      [50, failed(10)],
      [60, { type: 'succeeded', begunAt: 20 }],
    ]);
    assert.equal(standing?.state, 'cooling');
  });

  it('lets the next one find out when a probe tells nothing', () => {
    const standing = after([
      [0, failed(0)],
      [1000, { type: 'begun' }],
      [1100, { type: 'told-nothing', begunAt: 1000 }],
    ]);
    assert.ok(standing !== null && isOver(standing, 1100));
  });

  it('keeps what weighs more', () => {
    const refused: Penalty = { ...pause, to: 'needs-attention', reason: 'credential refused' };
    const standing = after([
      [0, failed(0, refused)],
      [10, failed(5)],
    ]);
    assert.equal(standing?.state, 'needs-attention');
    assert.equal(
      after([
        [0, failed(0)],
        [5, failed(1, refused)],
      ])?.state,
      'needs-attention',
    );
  });

  it('survives a clock that is put back', () => {
    const standing = after([[1_000_000, failed(999_000)]]);
    assert.ok(standing !== null && isOver(standing, 500_000));
  });
});

const penalty: fc.Arbitrary<Penalty> = fc.constantFrom(...Object.values(faults)).chain(({ effect, says }) => {
  if (effect.to === 'none') return fc.constant(pause);
  const { baseMs = 0, capMs = 0 } = 'baseMs' in effect ? effect : {};
  return fc
    .option(fc.integer({ min: -3_600_000, max: 10 * 24 * 3_600_000 }), { nil: null })
    .map((ahead) => ({ to: effect.to, reason: says, baseMs, capMs, upstreamRetryAt: ahead }));
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
  let standing: HealthState | null = null;
  const open: { begunAt: number; probe: boolean }[] = [];
  for (const one of steps) {
    if (one.do === 'pass') now += one.ms;
    if (one.do === 'ask') {
      const may: boolean = standing === null || isOver(standing, now);
      if (!may && !one.last) continue;
      const before: HealthState | null = standing;
      standing = next(standing, { type: 'begun' }, now);
      const probe = standing?.state === 'probing' && before !== standing;
      if (before !== null && may) assert.ok(probe, 'whoever comes after the pause is the probe');
      if (probe) assert.ok(!isOver(standing as HealthState, now), 'there is one probe at a time');
      open.push({ begunAt: now, probe });
    }
    if (one.do === 'end') {
      const [request] = open.splice(one.which % Math.max(1, open.length), 1);
      if (request === undefined) continue;
      const { begunAt } = request;
      if (one.how === 'success') standing = next(standing, { type: 'succeeded', begunAt }, now);
      else if (one.how === 'nothing') standing = next(standing, { type: 'told-nothing', begunAt }, now);
      else {
        const told = one.how.upstreamRetryAt === null ? null : now + one.how.upstreamRetryAt;
        standing = next(
          standing,
          { type: 'failed', begunAt, penalty: { ...one.how, upstreamRetryAt: told } },
          now,
        );
        assert.notEqual(standing, null);
      }
    }
    if (standing !== null && 'until' in standing) {
      const cap: number = standing.told ? TOLD_CAP_MS[standing.state] : 60 * 60_000;
      assert.ok(standing.until - standing.since <= cap, 'no pause is longer than its cap');
    }
  }
  if (standing === null || standing.state === 'needs-attention') return;
  // Nothing sticks: when time goes on, a request is let through, and its success makes all well.
  const later = now + TOLD_CAP_MS.exhausted + PROBE_MS;
  assert.ok(isOver(standing, later));
  const probing = next(standing, { type: 'begun' }, later);
  assert.equal(probing?.state, 'probing');
  assert.equal(next(probing, { type: 'succeeded', begunAt: later }, later + 1), null);
}

describe('the standing of an account over any order of what may happen', () => {
  it('never sticks, never has two probes, and never pauses beyond its caps', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        hold(steps);
      }),
      { numRuns: 10_000 },
    );
  });
});
