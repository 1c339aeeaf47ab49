import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeAttempt, madeTrace } from '../../../test/support/routing/trace.ts';
import { madeEntry } from '../../../test/support/store/ledger.ts';
import { MAX_MODELS } from './bounded-names.ts';
import type { HistogramFamily, Labels, ScalarFamily } from './family.ts';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts';

function scalar(metrics: RequestMetrics, name: string): ScalarFamily {
  const found = metrics.families().find((family) => family.name === `modelgate_${name}`);
  assert.ok(found !== undefined && found.type !== 'histogram', `no counter ${name}`);
  return found;
}

function histogram(metrics: RequestMetrics, name: string): HistogramFamily {
  const found = metrics.families().find((family) => family.name === `modelgate_${name}`);
  assert.ok(found?.type === 'histogram', `no histogram ${name}`);
  return found;
}

function seriesValue({ points }: ScalarFamily, labels: Labels): number | undefined {
  const fits = (point: { labels: Labels }) =>
    Object.entries(labels).every(([name, value]) => point.labels[name] === value);
  return points.find(fits)?.value;
}

describe('request metrics', () => {
  it('counts requests, tokens by bucket, cost and durations', () => {
    const metrics = createRequestMetrics();
    metrics.count(madeEntry({ durationMs: 1500, ttftMs: 300, costUsd: 0.25 }), null);
    metrics.count(madeEntry({ durationMs: 50, ttftMs: null, costUsd: null }), null);
    const labels = { provider: 'openai', model: 'gpt-5', format: 'openai-chat', outcome: 'ok' };
    assert.deepEqual(scalar(metrics, 'requests').points, [{ labels, value: 2 }]);
    assert.equal(seriesValue(scalar(metrics, 'cost_usd'), labels), 0.25);
    assert.equal(seriesValue(scalar(metrics, 'unpriced_requests'), labels), 1);
    const { usage } = madeEntry({});
    assert.ok(usage !== null && usage.input > 0);
    assert.equal(seriesValue(scalar(metrics, 'tokens'), { ...labels, bucket: 'input' }), 2 * usage.input);
    const duration = histogram(metrics, 'request_duration_seconds').points[0];
    assert.equal(duration?.sum, 1.55);
    assert.equal(
      [...(duration?.counts ?? [])].length,
      histogram(metrics, 'request_duration_seconds').bounds.length + 1,
    );
    assert.deepEqual(
      histogram(metrics, 'time_to_first_byte_seconds').points.map(({ sum }) => sum),
      [0.3],
    );
  });

  it('counts failures by the kind of their error', () => {
    const metrics = createRequestMetrics();
    const failed = { outcome: 'failed', usage: null } as const;
    metrics.count(madeEntry({ ...failed, status: 429, errorCode: 'upstream_error' }), null);
    metrics.count(madeEntry({ ...failed, status: 502, errorCode: 'upstream_unreachable' }), null);
    metrics.count(
      madeEntry({ ...failed, status: 404, errorCode: 'model_not_found', provider: null, model: null }),
      null,
    );
    metrics.count(madeEntry({ outcome: 'aborted', status: 499, errorCode: 'client_closed' }), null);
    assert.deepEqual(
      scalar(metrics, 'errors').points.map(({ labels, value }) => [
        labels['provider'],
        labels['kind'],
        labels['code'],
        value,
      ]),
      [
        ['openai', 'rate_limit', 'upstream_error', 1],
        ['openai', 'server', 'upstream_unreachable', 1],
        ['none', 'not_found', 'model_not_found', 1],
      ],
    );
  });

  it('counts attempts, and the targets that a request went on to', () => {
    const metrics = createRequestMetrics();
    const error = { code: 'upstream_unreachable', message: 'a secret text' };
    const failed = madeAttempt({ outcome: 'failed', error, durationMs: 100 });
    const other = madeAttempt({ connectionId: 'con_2', provider: 'anthropic', model: 'claude' });
    metrics.count(madeEntry({ provider: 'anthropic', model: 'claude' }), madeTrace([failed, failed, other]));
    assert.equal(
      seriesValue(scalar(metrics, 'upstream_attempts'), {
        provider: 'openai',
        outcome: 'failed',
        code: 'upstream_unreachable',
      }),
      2,
    );
    assert.equal(
      seriesValue(scalar(metrics, 'upstream_attempts'), {
        provider: 'anthropic',
        outcome: 'answered',
        code: 'none',
      }),
      1,
    );
    assert.deepEqual(scalar(metrics, 'fallbacks').points, [
      {
        labels: { from_provider: 'openai', to_provider: 'anthropic', code: 'upstream_unreachable' },
        value: 1,
      },
    ]);
    assert.deepEqual(
      histogram(metrics, 'upstream_duration_seconds').points.map(({ labels, sum }) => [
        labels['model'],
        labels['outcome'],
        sum,
      ]),
      [
        ['gpt-5', 'failed', 0.2],
        ['claude', 'answered', 0.2],
      ],
    );
  });

  it('gives no series of their own to models beyond the limit', () => {
    const metrics = createRequestMetrics();
    for (let index = 0; index < MAX_MODELS + 50; index += 1)
      metrics.count(madeEntry({ model: `made-up-${index}` }), null);
    metrics.count(madeEntry({ model: 'made-up-0' }), null);
    const requests = scalar(metrics, 'requests');
    assert.equal(requests.points.length, MAX_MODELS + 1);
    assert.equal(seriesValue(requests, { model: 'other' }), 50);
    assert.equal(seriesValue(requests, { model: 'made-up-0' }), 2);
  });
});
