import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { noUsage } from '../codecs/wire-format.ts';
import { historyOf, percentile } from './history.ts';
import type { PastRequest } from './past-request.ts';
import { type ReplayTarget, replay } from './replay.ts';

const START = Date.UTC(2026, 10, 20);

/** A request of 1,000 input and 100 output tokens that the connection `a` answered within 1.2 s. */
function request(index: number, more: Partial<PastRequest> = {}): PastRequest {
  return {
    id: `req-${index}`,
    startedAt: START + index * 1_000,
    format: 'openai-chat',
    connectionId: 'a',
    provider: 'openai',
    model: 'm',
    status: 200,
    outcome: 'ok',
    usage: { ...noUsage, input: 1_000, output: 100 },
    costUsd: 0.01,
    attempts: 1,
    ttftMs: 200,
    durationMs: 1_200,
    failedAt: null,
    ...more,
  };
}

/** A target that takes so much for each output token. */
function target(connectionId: string, usdPerToken: number | null): ReplayTarget {
  return {
    connectionId,
    connection: connectionId,
    provider: `of-${connectionId}`,
    model: 'm',
    costOf: ({ output }) => (usdPerToken === null ? null : output * usdPerToken),
  };
}

const [a, b, c] = [target('a', 0.0001), target('b', 0.00002), target('c', null)];
const many = (count: number, more: Partial<PastRequest> = {}) =>
  Array.from({ length: count }, (_, index) => request(index, more));

describe('a replay', () => {
  it('keeps the real outcome of requests that go to the same target', () => {
    const past = [...many(10), request(10, { outcome: 'failed', status: 503, usage: null, costUsd: null })];
    const result = replay({ past, history: historyOf(past), order: () => [a], maxAttempts: 5 });
    assert.deepEqual(result.simulated, result.actual);
    assert.equal(result.unchanged, 10);
    assert.equal(result.actual.failed, 1);
    assert.equal(result.actual.unpriced, 0, 'what failed before anything was used cost nothing');
  });

  it('prices and times requests that go elsewhere by the price and history of that target', () => {
    const there = many(20).map((each) => ({
      ...each,
      id: `b-${each.id}`,
      connectionId: 'b',
      provider: 'of-b',
      ttftMs: 50,
      durationMs: 250,
    }));
    const past = many(100);
    const history = historyOf([...past, ...there]);
    const { simulated, actual, targets } = replay({ past, history, order: () => [b], maxAttempts: 5 });
    assert.ok(Math.abs((simulated.costUsd ?? 0) - 0.2) < 1e-9);
    assert.ok(Math.abs((actual.costUsd ?? 0) - 1) < 1e-9);
    assert.deepEqual([simulated.p50Ms, simulated.ttftP50Ms, simulated.untimed], [250, 50, 0]);
    assert.deepEqual(
      targets.map(({ basedOn, connection, requests }) => [connection, requests, basedOn]),
      [['b', 100, 20]],
    );
  });

  it('reports unknown values instead of zero', () => {
    const past = many(5);
    const { simulated } = replay({ past, history: historyOf(past), order: () => [c], maxAttempts: 5 });
    assert.deepEqual([simulated.costUsd, simulated.unpriced], [null, 5]);
    assert.deepEqual([simulated.p50Ms, simulated.untimed], [null, 5]);
  });

  it('falls back as often as the first target failed in the past', () => {
    const before = many(1_000).map((each, index) => ({
      ...each,
      id: `b-${index}`,
      connectionId: 'b',
      provider: 'of-b',
      ...(index % 4 === 0 ? { outcome: 'failed' as const, status: 503, durationMs: 80 } : {}),
    }));
    const past = many(2_000);
    const history = historyOf([...past, ...before]);
    const { simulated } = replay({ past, history, order: () => [b, a], maxAttempts: 5 });
    assert.ok(
      simulated.fallbacks > 400 && simulated.fallbacks < 600,
      `${simulated.fallbacks} of 2,000 at 25 %`,
    );
    assert.equal(simulated.failed, 0);
    const alone = replay({ past, history, order: () => [b, a], maxAttempts: 1 });
    assert.equal(alone.simulated.failed, simulated.fallbacks, 'the same draws, and no second attempt');
  });

  it('knows where a request failed before another target answered it', () => {
    const failed = { ...b, durationMs: 300 };
    const past = many(10).map((each) => ({ ...each, failedAt: [failed], attempts: 2 }));
    const history = historyOf(past);
    assert.equal(history.of(b)?.failureRate, 1);
    assert.equal(history.of({ ...a, provider: 'openai' })?.failureRate, 0);
    const { actual, simulated } = replay({ past, history, order: () => [b, a], maxAttempts: 5 });
    assert.deepEqual([simulated.fallbacks, simulated.failed], [10, 0]);
    assert.equal(actual.fallbacks, 10);
    // The real duration has the failed attempt in it already.
    assert.deepEqual([simulated.p50Ms, actual.p50Ms], [1_200, 1_200]);
    const direct = replay({ past, history, order: () => [a], maxAttempts: 5 }).simulated;
    assert.deepEqual([direct.p50Ms, direct.ttftP50Ms], [900, 0]);
  });

  it('does not count client errors and aborted requests as failures of the target', () => {
    const past = [
      request(0, { outcome: 'failed', status: 400 }),
      request(1, { outcome: 'aborted', status: 499 }),
      request(2),
    ];
    assert.equal(historyOf(past).of({ connectionId: 'a', provider: 'openai', model: 'm' })?.failureRate, 0);
  });

  it('leaves out requests that no target could have served', () => {
    const past = many(4);
    const order = ({ id }: PastRequest) => (id === 'req-0' ? [] : [a]);
    const result = replay({ past, history: historyOf(past), order, maxAttempts: 5 });
    assert.deepEqual([result.leftOut, result.actual.requests, result.simulated.requests], [1, 3, 3]);
  });

  it('orders targets by the load that the replay has put on the accounts', () => {
    const past = many(10).map((each) => ({ ...each, startedAt: START }));
    const seen: number[] = [];
    replay({
      past,
      history: historyOf(past),
      order: (_, { healthView }) => {
        seen.push(healthView.inFlight('a'));
        return [a];
      },
      maxAttempts: 1,
    });
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is deterministic, and accounts for every request', () => {
    const outcome = fc.constantFrom<Partial<PastRequest>>(
      {},
      { outcome: 'failed', status: 503, usage: null, costUsd: null },
      { outcome: 'aborted', status: 499 },
      { connectionId: 'b', provider: 'of-b' },
      { ttftMs: null },
    );
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 60 }), fc.subarray([a, b, c]), (outcomes, targets) => {
        const past = outcomes.map((more, index) => request(index, more));
        const input = { past, history: historyOf(past), order: () => targets, maxAttempts: 3 };
        const result = replay(input);
        assert.deepEqual(replay(input), result);
        assert.equal(result.simulated.requests + result.leftOut, past.length);
        const answered = result.targets.reduce((sum, { requests }) => sum + requests, 0);
        assert.equal(answered + result.simulated.failed, result.simulated.requests);
      }),
    );
  });
});

describe('percentile', () => {
  it('is the nearest rank', () => {
    assert.equal(percentile([], 0.5), null);
    assert.equal(percentile([3, 1, 2], 0.5), 2);
    assert.equal(percentile([1, 2, 3, 4], 0.95), 4);
  });
});
