import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../../test/support/machine/fake-clock.ts';
import { checkBreaker } from '../../../test/support/routing/breaker-check.ts';
import type { CircuitBreaker } from '../config/config.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import type { BreakerState, Permit } from './limit.ts';

const settings: CircuitBreaker = {
  name: 'b',
  trips: { on: 'errors' },
  ratio: 0.5,
  windowMs: 10_000,
  recoveryMs: 5_000,
  minRequests: 4,
};

function setUp(change: Partial<CircuitBreaker> = {}) {
  const clock = createFakeClock();
  const changes: BreakerState[] = [];
  const breaker = createCircuitBreaker({
    breaker: { ...settings, ...change },
    now: clock.now,
    onRoom() {},
    onChange: (state) => changes.push(state),
  });
  const ask = () => {
    const answer = breaker.ask();
    assert.ok(!(answer instanceof Promise));
    return answer;
  };
  const permit = (): Permit => {
    const answer = ask();
    assert.ok(answer.kind === 'permit', 'the breaker lets a call pass');
    return answer.permit;
  };
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) permit().done('error', 1);
  };
  return { clock, changes, ask, permit, fail };
}

describe('a circuit breaker', () => {
  it('behaves like its reference model', () => checkBreaker(1_000));

  it('opens at the ratio, when there were enough calls', () => {
    const { ask, fail, permit } = setUp();
    permit().done('ok', 1);
    permit().done('ok', 1);
    fail(1);
    assert.equal(ask().kind, 'permit');
    fail(1);
    assert.deepEqual(ask(), { kind: 'refused', retryAfterMs: 5_000 });
  });

  it('opens at a ratio of 1, and at the first failure with a ratio of 0', () => {
    for (const [ratio, failures] of [
      [1, 4],
      [0, 1],
    ] as const) {
      const { ask, fail, permit } = setUp({ ratio });
      for (let call = failures; call < 4; call += 1) permit().done('ok', 1);
      assert.equal(ask().kind, 'permit');
      fail(failures);
      assert.equal(ask().kind, 'refused');
    }
  });

  it('forgets what left its window', () => {
    const { ask, clock, fail } = setUp();
    fail(3);
    clock.pass(10_000);
    fail(3);
    assert.equal(ask().kind, 'permit');
  });

  it('opens for calls that are slow or timed out, whatever their outcome', () => {
    const { ask, permit } = setUp({ trips: { on: 'slowness', maxMs: 100 } });
    for (let call = 0; call < 2; call += 1) permit().done('ok', 100);
    permit().done('ok', 101);
    permit().done('error', Number.POSITIVE_INFINITY);
    assert.equal(ask().kind, 'refused');
  });

  it('lets one probe pass after the recovery time, which closes it or opens it again', () => {
    const { ask, changes, clock, fail, permit } = setUp();
    fail(4);
    clock.pass(5_000);
    const probe = permit();
    assert.equal(ask().kind, 'refused');
    probe.done('error', 1);
    assert.deepEqual(ask(), { kind: 'refused', retryAfterMs: 5_000 });
    clock.pass(5_000);
    permit().done('ok', 1);
    assert.equal(ask().kind, 'permit');
    assert.deepEqual(changes, ['open', 'half-open', 'open', 'half-open', 'closed']);
  });

  it('uses the next call as the probe when one was not made or is inconclusive', () => {
    const { clock, fail, permit } = setUp();
    fail(4);
    clock.pass(5_000);
    permit().cancel();
    permit().done('ignored', 1);
    permit().done('ok', 1);
  });

  it('ignores what began before it opened', () => {
    const { ask, clock, fail, permit } = setUp();
    const [late, later] = [permit(), permit()];
    fail(4);
    late.done('ok', 1);
    assert.equal(ask().kind, 'refused');
    clock.pass(5_000);
    const probe = permit();
    later.done('error', 1);
    probe.done('ok', 1);
    assert.equal(ask().kind, 'permit');
  });
});
