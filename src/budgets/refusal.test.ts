import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Refusal, refusalError } from './refusal.ts';
import type { BudgetRecord } from './schema.ts';

const at = Date.UTC(2026, 10, 21, 10);
const money: BudgetRecord = {
  id: 'bud_1',
  scope: 'team',
  subject: 'core team',
  metric: 'usd',
  limit: 5,
  period: 'day',
  softPercent: 80,
  unpriced: 'refuse',
  createdAt: at,
  updatedAt: at,
  resetAt: null,
};

function messageOf(patch: Partial<Refusal>, budget: Partial<BudgetRecord> = {}): string {
  return refusalError(
    {
      budget: { ...money, ...budget },
      subject: 'core team',
      spent: 4,
      reserved: 0.5,
      remaining: 0.5,
      requested: 0.75,
      retryAt: Date.UTC(2026, 10, 22),
      at,
      reason: 'full',
      ...patch,
    },
    'openai/gpt-5',
  ).message;
}

const mend = 'raise the limit with `gateway budgets set --team "core team" --usd N --per day`';

describe('a refusal', () => {
  it('says that a request does not fit when something is left, and how much', () => {
    assert.equal(
      messageOf({}),
      `This request does not fit in the budget of 5 USD per day of the team "core team": it may use 0.75 USD, and 0.5 USD remain, with 4 USD spent and 0.5 USD set aside for open requests. The window ends at 2026-11-22T00:00:00Z. Ask for fewer output tokens, wait until then, or ${mend}`,
    );
  });

  it('says that a budget is used up where nothing is left', () => {
    assert.equal(
      messageOf({ spent: 5.1, reserved: 0, remaining: 0 }),
      `The budget of 5 USD per day of the team "core team" is used up: 5.1 USD spent, and 0 USD remain. The window ends at 2026-11-22T00:00:00Z. Wait until then, or ${mend}`,
    );
    assert.match(
      messageOf({ remaining: 0, reserved: 1 }),
      /is used up for now: 4 USD spent and 1 USD set aside/,
    );
    const requests = {
      metric: 'requests',
      period: 'minute',
      limit: 3,
      scope: 'tag',
      subject: 'env=ci',
    } as const;
    assert.equal(
      messageOf({ spent: 3, reserved: 0, remaining: 0, requested: 1, subject: 'env=ci' }, requests),
      'The limit of 3 requests per minute of the tag "env=ci" is used up: 3 requests spent, and 0 requests remain. There is room again from 2026-11-22T00:00:00Z on. Wait until then, or raise the limit with `gateway budgets set --tag env=ci --requests N --per minute`',
    );
  });

  it('says when a request can never fit', () => {
    assert.match(
      messageOf({ retryAt: null, requested: 9 }),
      /does not fit in .* more than the whole limit; 0\.5 USD remain\. Ask for fewer output tokens, or raise/,
    );
  });

  it('names how many requests may be open at once', () => {
    const concurrency = {
      metric: 'concurrency',
      period: null,
      limit: 1,
      scope: 'global',
      subject: null,
    } as const;
    assert.equal(
      messageOf({ reserved: 1, spent: 0, remaining: 0, requested: 1, subject: null }, concurrency),
      'The limit of 1 request at the same time of this gateway is reached: 1 is open, and 0 remain. Try again when one has ended, or raise the limit with `gateway budgets set --concurrency N`',
    );
  });
});
