import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  addUse,
  type CounterLevel,
  createCounter,
  levelAt,
  releaseIn,
  reserveIn,
  resetsAt,
  resetUsage,
} from './counter.ts';
import type { BudgetPeriod } from './schema.ts';

const START = Date.UTC(2026, 10, 24, 12);

const step = fc.record({
  /** Clocks are put back too. */
  later: fc.oneof(fc.integer({ min: 0, max: 70_000 }), fc.integer({ min: -200_000, max: 4_000_000 })),
  kind: fc.constantFrom('reserve', 'release', 'use', 'reset'),
  amount: fc.integer({ min: 0, max: 1_000 }),
});

it('what a counter has counted is at any time the sum over the buckets that count', () => {
  const periods: readonly (BudgetPeriod | null)[] = ['minute', 'hour', 'day', 'month', null];
  fc.assert(
    fc.property(fc.constantFrom(...periods), fc.array(step, { maxLength: 60 }), (period, steps) => {
      const counter = createCounter({
        id: 'bud_1',
        scope: 'key',
        subject: 'key_1',
        metric: period === null ? 'concurrency' : 'requests',
        period,
        limit: 1_000,
        softPercent: null,
        unpriced: 'allow',
        createdAt: START,
        updatedAt: START,
        resetAt: null,
      });
      let now = START;
      let last = START;
      for (const { amount, kind, later } of steps) {
        now += later;
        const bucket = counter.window.bucketAt(now);
        if (kind === 'reserve') reserveIn(counter, bucket, amount);
        if (kind === 'release') releaseIn(counter, counter.window.bucketAt(last), amount);
        if (kind === 'use') addUse(counter, bucket, { amount, unpriced: 1 });
        if (kind === 'reset') resetUsage(counter);
        last = now;
        const sums: CounterLevel = { spent: 0, held: 0, unpriced: 0 };
        let end: number | null = null;
        for (const [start, { held, spent, unpriced }] of counter.buckets) {
          if (!counter.window.counts(start, now)) continue;
          sums.spent += spent;
          sums.held += held;
          sums.unpriced += unpriced;
          if (held + spent > 0) end = Math.max(end ?? 0, counter.window.endOf(start));
        }
        assert.deepEqual(levelAt(counter, now), sums);
        if (counter.window.kind === 'rolling') assert.equal(resetsAt(counter, now), end);
      }
    }),
  );
});
