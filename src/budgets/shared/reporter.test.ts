import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCounter } from '../counter.ts';
import type { TallyExchangeReply, TallyExchangeRequest } from './exchange.ts';
import { createLease } from './lease.ts';
import { createReporter } from './reporter.ts';

const KEY = 'global::requests:day';
const now = () => Date.UTC(2026, 10, 22);

/** Accepts every version, in one epoch that has been there for long. */
const exchange = async ({ epoch, proposals }: TallyExchangeRequest): Promise<TallyExchangeReply> => ({
  now: now(),
  epoch: 'epoch',
  epochAgeMs: 60_000,
  conflicts: proposals.map(() => (epoch === 'epoch' ? null : { version: null, tally: '' })),
});

describe('a budget that is removed', () => {
  it('is reported for the last time, and not remembered again', async () => {
    const saved: string[] = [];
    let ids = 0;
    const reporter = createReporter({
      exchange,
      now,
      timeoutMs: 2_000,
      former: [],
      after: () => () => {},
      askFor: () => [],
      newId: () => `id-${++ids}`,
      save: ({ key }) => saved.push(key),
      onAnswer() {},
      onSilence: assert.ifError,
    });
    const counter = createCounter({
      id: 'bud_1',
      scope: 'global',
      subject: null,
      metric: 'requests',
      limit: 3,
      period: 'day',
      softPercent: null,
      unpriced: 'allow',
      createdAt: 0,
      updatedAt: 0,
      resetAt: null,
    });
    const lease = createLease(KEY, 'me');
    lease.loaded = true;
    counter.lease = lease;
    reporter.joined.add(counter);
    await reporter.report([counter]);
    assert.ok(saved.includes(KEY), 'it is remembered while it is in force');
    lease.closed = 'removed';
    saved.length = 0;
    const { seq } = lease;
    await reporter.report([counter]);
    assert.ok(lease.confirmedSeq > seq, 'what it held is given back');
    assert.equal(saved.includes(KEY), false);
  });
});
