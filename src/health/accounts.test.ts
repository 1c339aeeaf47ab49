import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findProvider } from '../providers/index.ts';
import type { AttemptTarget, StoredHealthState } from './account.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import type { AttemptFailure } from './running.ts';

const start = Date.UTC(2026, 10, 21, 12, 0, 0);

function setUp(provider = 'openai-compatible') {
  const time = { now: start };
  const stored = new Map<string, StoredHealthState>();
  const accounts = createAccounts({
    now: () => time.now,
    onChange: (one) => void stored.set(`${one.connectionId} ${one.model}`, one),
  });
  const definition = findProvider(provider);
  assert.ok(definition);
  const targetOf = (model = 'm-1'): AttemptTarget => ({
    connection: { id: 'c', credential: 'secret', baseUrl: null },
    provider: definition,
    model,
  });
  return { accounts, targetOf, stored, time };
}

const failure = (status: number, errorText = '', headers: Record<string, string> = {}): AttemptFailure => ({
  code: 'upstream_error',
  status,
  errorText,
  message: errorText,
  headers,
  retryAfter: null,
});

function fail(accounts: Accounts, target: AttemptTarget, failed: AttemptFailure) {
  const running = accounts.begin(target);
  const effect = running.failed(failed);
  running.closed();
  return effect;
}

describe('accounts', () => {
  it('are ready until a request fails', () => {
    const { accounts, targetOf } = setUp();
    assert.deepEqual(accounts.conditionOf('c', 'm-1'), { state: 'ready' });
    const running = accounts.begin(targetOf());
    assert.equal(accounts.inFlight('c'), 1);
    running.succeeded(120);
    running.closed();
    running.closed();
    assert.deepEqual([accounts.inFlight('c'), accounts.recentUse('c')], [0, 1]);
    assert.equal(accounts.latencyMs('c', 'm-1'), 120);
    assert.deepEqual(accounts.availability('c', 'm-1'), { may: 'go' });
  });

  it('cool for a model that is not served, and go on with the others', () => {
    const { accounts, targetOf } = setUp();
    const effect = fail(accounts, targetOf('gone'), failure(404, 'model_not_found the model does not exist'));
    assert.equal(effect.effect, 'cooling until 12:01:00 (model not served)');
    assert.equal(accounts.conditionOf('c', 'gone').state, 'cooling');
    assert.equal(accounts.conditionOf('c', 'm-1').state, 'ready');
    assert.equal(accounts.availability('c', 'gone').may, 'last');
  });

  it('wait as long as the upstream says, for the model alone if its limits are per model', () => {
    for (const [provider, other] of [
      ['openai', 'go'],
      ['openai-compatible', 'wait'],
    ] as const) {
      const { accounts, targetOf, time } = setUp(provider);
      fail(accounts, targetOf(), failure(429, 'slow down', { 'retry-after': '17' }));
      const admission = accounts.availability('c', 'm-1');
      assert.deepEqual([admission.may, 'until' in admission ? admission.until : 0], ['wait', start + 17_000]);
      assert.equal(accounts.availability('c', 'm-2').may, other);
      time.now += 17_000;
      assert.equal(accounts.availability('c', 'm-1').may, 'go');
      const probe = accounts.begin(targetOf());
      assert.equal(accounts.conditionOf('c', 'm-1').state, 'probing');
      assert.equal(accounts.availability('c', 'm-1').may, 'last', 'one probe at a time');
      probe.succeeded(5);
      assert.equal(accounts.availability('c', 'm-1').may, 'go');
    }
  });

  it('need attention until the credential changes or a test succeeds', () => {
    const { accounts, targetOf, time } = setUp();
    const connection = {
      id: 'c',
      credential: 'secret',
      baseUrl: null,
      status: 'ok',
      lastTestedAt: start - 1,
    };
    const refuse = () => fail(accounts, targetOf(), failure(401, 'invalid_api_key'));
    assert.equal(refuse().effect, 'needs-attention (credential refused)');
    accounts.adopt([connection]);
    assert.equal(accounts.conditionOf('c', 'm-1').state, 'needs-attention');
    accounts.adopt([{ ...connection, credential: 'another' }]);
    assert.equal(accounts.conditionOf('c', 'm-1').state, 'ready');
    refuse();
    time.now += 1000;
    accounts.adopt([{ ...connection, lastTestedAt: time.now }]);
    assert.equal(accounts.conditionOf('c', 'm-1').state, 'ready');
  });

  it('are exhausted when a limit is used up for long, whatever the refusal is called', () => {
    const { accounts, targetOf } = setUp('anthropic');
    const effect = fail(
      accounts,
      targetOf(),
      failure(429, 'rate_limit_error', {
        'retry-after': '5',
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': String(start / 1000 + 7200),
      }),
    );
    assert.equal(effect.kind, 'quota');
    const condition = accounts.conditionOf('c', 'm-1');
    assert.deepEqual(condition, { state: 'exhausted', until: start + 7_200_000, reason: 'quota used up' });
    assert.equal(accounts.headroom('c'), 0);
  });

  it('are not blamed for what clients do', () => {
    const { accounts, targetOf, stored } = setUp();
    for (const status of [400, 404, 409, 413, 422])
      assert.equal(fail(accounts, targetOf(), failure(status, 'previous_response_id')).effect, null);
    assert.equal(stored.size, 0);
  });

  it('remember a bounded number of models, and forget on demand', () => {
    const { accounts, targetOf, stored } = setUp();
    for (let count = 0; count < 1200; count += 1)
      fail(accounts, targetOf(`m-${count}`), failure(404, 'model'));
    assert.equal(accounts.conditionsOf('c').length, 500);
    assert.equal([...stored.values()].filter(({ healthState }) => healthState !== null).length, 500);
    assert.equal(accounts.reset('c'), true);
    assert.equal(accounts.reset('c'), false);
    assert.equal([...stored.values()].filter(({ healthState }) => healthState !== null).length, 0);
  });

  it('are restored from stored states', () => {
    const first = setUp();
    fail(first.accounts, first.targetOf(), failure(401));
    fail(first.accounts, first.targetOf('gone'), failure(404, 'model'));
    const again = createAccounts({
      now: () => start,
      onChange: () => {},
      storedStates: [...first.stored.values()],
    });
    assert.equal(again.conditionOf('c', 'm-1').state, 'needs-attention');
    assert.deepEqual(again.conditionsOf('c'), first.accounts.conditionsOf('c'));
  });

  it('report how much of their limits is left, until the limits reset', () => {
    const { accounts, targetOf, time } = setUp();
    const running = accounts.begin(targetOf());
    running.headReceived({
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '4',
      'x-ratelimit-reset-requests': '6s',
    });
    assert.equal(accounts.headroom('c'), 0.4);
    time.now += 6000;
    assert.equal(accounts.headroom('c'), null);
  });

  it('count the requests of the last minute', () => {
    const { accounts, targetOf, time } = setUp();
    for (let count = 0; count < 5; count += 1) {
      accounts.begin(targetOf()).closed();
      time.now += 10_000;
    }
    assert.equal(accounts.recentUse('c'), 5);
    time.now += 25_000;
    assert.equal(accounts.recentUse('c'), 3);
    time.now += 3_600_000;
    assert.equal(accounts.recentUse('c'), 0);
  });
});
