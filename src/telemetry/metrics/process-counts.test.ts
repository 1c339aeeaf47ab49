import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeAttempt, madeTrace } from '../../../test/support/routing/trace.ts';
import { madeEntry } from '../../../test/support/store/ledger.ts';
import type { Trace, TracedAttempt } from '../../combos/trace.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { MAX_MODELS } from './bounded-names.ts';
import { createHttpMetrics } from './http-metrics.ts';
import { createProcessCounter, type ProcessCounts } from './process-counts.ts';
import { createRequestMetrics } from './request-metrics.ts';

const attempt = madeAttempt({ durationMs: 375 });

const traceOf = (attempts: TracedAttempt[]): Trace =>
  madeTrace(attempts, { skipped: [{ ...attempt, reason: 'budget', detail: 'no room' }] });

const failedAttempt: TracedAttempt = {
  ...attempt,
  connectionId: 'con_2',
  outcome: 'failed',
  error: { code: 'upstream_error', message: 'no' },
};

/** With times and prices whose sums are exact, in whichever order they are added. */
const requests: readonly (readonly [LedgerEntry, Trace | null])[] = [
  [madeEntry({ durationMs: 1500, ttftMs: null, costUsd: 0.25 }), traceOf([attempt])],
  [madeEntry({ durationMs: 125, ttftMs: 62.5, costUsd: null }), traceOf([failedAttempt, attempt])],
  [madeEntry({ durationMs: 250, ttftMs: 250, cached: true, provider: null, model: null }), null],
  [
    madeEntry({ durationMs: 500, ttftMs: null, costUsd: 0.5, continued: 2, model: 'gpt-5-mini' }),
    traceOf([attempt]),
  ],
  [
    madeEntry({
      durationMs: 1000,
      ttftMs: null,
      outcome: 'failed',
      status: 429,
      errorCode: 'upstream_error',
      usage: null,
    }),
    traceOf([failedAttempt]),
  ],
];

/** As a message between processes carries them. */
const sent = (counts: ProcessCounts | null): ProcessCounts | null => structuredClone(counts);

describe('the merged counts of several processes', () => {
  it('equal those of one process', () => {
    const [one, together] = [createRequestMetrics(), createRequestMetrics()];
    const counters = [createProcessCounter(), createProcessCounter()];
    for (let index = 0; index < 40; index += 1) {
      const [entry, trace] = requests[index % requests.length] ?? assert.fail();
      one.count(entry, trace);
      const counter = counters[index % 3 === 0 ? 0 : 1] ?? assert.fail();
      counter.count(entry, trace);
      if (index % 7 > 0) continue;
      const counts = sent(counter.take());
      if (counts !== null) together.add(counts.requests);
    }
    for (const counter of counters) {
      const counts = sent(counter.take());
      if (counts !== null) together.add(counts.requests);
    }
    const sorted = (metrics: typeof one) =>
      metrics
        .families()
        .map(({ name, points }) => [
          name,
          [...points]
            .sort((a, b) => JSON.stringify(a.labels).localeCompare(JSON.stringify(b.labels)))
            .map((point) => ('value' in point ? point : { ...point, counts: [...point.counts] })),
        ]);
    assert.deepEqual(sorted(together), sorted(one));
  });

  it('are merged once', () => {
    const counter = createProcessCounter();
    assert.equal(counter.take(), null);
    counter.countHttp('models', 'POST', 200);
    const http = createHttpMetrics();
    http.add(counter.take()?.http ?? assert.fail());
    assert.equal(counter.take(), null);
    assert.deepEqual(
      http.families()[0]?.points.map((point) => ('value' in point ? point.value : null)),
      [1],
    );
  });

  it('name no more models than one process does', () => {
    const together = createRequestMetrics();
    for (const name of ['a', 'b', 'c']) {
      const counter = createProcessCounter();
      for (let index = 0; index < MAX_MODELS; index += 1)
        counter.count(madeEntry({ model: `${name}-${index}` }), null);
      const counts = counter.take() ?? assert.fail();
      together.add(counts.requests);
    }
    const [family] = together.families();
    assert.equal(family?.points.length, MAX_MODELS + 1);
    const other = family.points.find(({ labels }) => labels['model'] === 'other');
    assert.deepEqual(other && 'value' in other ? other.value : null, 2 * MAX_MODELS);
  });
});
