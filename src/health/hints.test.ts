import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredHealthState } from './account.ts';
import { createAccounts } from './accounts.ts';
import { hintOf } from './hints.ts';

const minute = 60_000;

describe('a health hint of another gateway', () => {
  it('keeps requests away for the same time, by the local clock, and is not passed on', () => {
    const clock = { now: 10_000_000 };
    const changes: StoredHealthState[] = [];
    const other = createAccounts({ now: () => clock.now, onChange: (stored) => void changes.push(stored) });
    other.applyHint({
      connectionId: 'con_1',
      model: null,
      state: 'exhausted',
      reason: 'rate limit',
      failures: 1,
      forMs: minute,
      told: true,
    });
    const { may } = other.availability('con_1', 'm-1');
    assert.equal(may, 'wait');
    clock.now += minute;
    assert.equal(other.availability('con_1', 'm-1').may, 'go');
    assert.deepEqual(changes, []);
  });

  it('ends when it ends at its gateway, and local states stay', () => {
    const other = createAccounts({ now: () => 1_000, onChange() {} });
    const about = { connectionId: 'con_1', reason: 'rate limit', failures: 1, forMs: minute, told: false };
    other.applyHint({ ...about, model: 'm-1', state: 'cooling' });
    assert.equal(other.availability('con_1', 'm-1').may, 'last');
    other.applyHint({ connectionId: 'con_1', model: 'm-1', state: 'ready' });
    assert.equal(other.availability('con_1', 'm-1').may, 'go');
    const own: StoredHealthState = {
      connectionId: 'con_2',
      model: null,
      fingerprint: null,
      healthState: { state: 'needs-attention', since: 1, failures: 1, reason: 'credential refused' },
    };
    const accounts = createAccounts({ now: () => 1_000, onChange() {}, storedStates: [own] });
    accounts.applyHint({ ...about, connectionId: 'con_2', model: null, state: 'cooling' });
    accounts.applyHint({ connectionId: 'con_2', model: null, state: 'ready' });
    assert.equal(accounts.conditionOf('con_2', 'm-1').state, 'needs-attention');
  });

  it('is passed to a new worker as a hint, so that it ends there as well', () => {
    const clock = { now: 1_000 };
    const owner = createAccounts({ now: () => clock.now, onChange() {} });
    const about = { connectionId: 'con_1', model: null, reason: 'rate limit', failures: 1, told: true };
    owner.applyHint({ ...about, state: 'exhausted', forMs: minute });
    clock.now += 1_000;
    assert.deepEqual(owner.ownStates(), []);
    const hints = owner.receivedHints();
    assert.deepEqual(hints, [{ ...about, state: 'exhausted', forMs: minute - 1_000 }]);
    const worker = createAccounts({ now: () => clock.now, onChange() {} });
    for (const hint of hints) worker.applyHint(hint);
    assert.equal(worker.availability('con_1', 'm-1').may, 'wait');
    worker.applyHint({ connectionId: 'con_1', model: null, state: 'ready' });
    assert.equal(worker.availability('con_1', 'm-1').may, 'go');
  });

  it('skips an account with a refused credential for a minute', () => {
    const healthState = { state: 'needs-attention', since: 1, failures: 3, reason: 'x'.repeat(600) } as const;
    const hint = hintOf({ connectionId: 'con_1', model: null, fingerprint: 'f', healthState }, 1_000);
    assert.deepEqual(hint, {
      connectionId: 'con_1',
      model: null,
      state: 'cooling',
      reason: 'x'.repeat(512),
      failures: 3,
      forMs: minute,
      told: false,
    });
    const probing = { state: 'probing', since: 1, failures: 0, reason: '' } as const;
    assert.equal(
      hintOf({ connectionId: 'c', model: null, fingerprint: null, healthState: probing }, 1),
      null,
    );
  });
});
