import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasRateLimitHeaders, parseRateLimits } from './limits.ts';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const read = (headers: Record<string, string>) =>
  parseRateLimits(headers, null, now).map(({ left, limit, name, remaining, resetAt }) => ({
    name,
    limit,
    remaining,
    left,
    resetMs: resetAt === null ? null : resetAt - now,
  }));

describe('rate limits in answers', () => {
  it('are read from OpenAI, Groq and those like them', () => {
    const headers = {
      'x-ratelimit-limit-requests': '14400',
      'x-ratelimit-remaining-requests': '7200',
      'x-ratelimit-reset-requests': '2m59.56s',
      'x-ratelimit-limit-tokens': '18000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '7.66s',
    };
    assert.deepEqual(read(headers), [
      { name: 'requests', limit: 14_400, remaining: 7200, left: 0.5, resetMs: 179_560 },
      { name: 'tokens', limit: 18_000, remaining: 0, left: 0, resetMs: 7660 },
    ]);
  });

  it('are read from Anthropic, subscriptions included', () => {
    const headers = {
      'anthropic-ratelimit-input-tokens-limit': '1000',
      'anthropic-ratelimit-input-tokens-remaining': '250',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-21T12:00:30Z',
      'anthropic-ratelimit-unified-5h-utilization': '0.42',
      'anthropic-ratelimit-unified-5h-reset': String(now / 1000 + 3600),
      'anthropic-ratelimit-unified-7d-utilization': '1.02',
      'anthropic-ratelimit-unified-7d-status': 'rejected',
    };
    assert.deepEqual(read(headers), [
      { name: 'input-tokens', limit: 1000, remaining: 250, left: 0.25, resetMs: 30_000 },
      { name: 'unified-5h', limit: null, remaining: null, left: 0.58, resetMs: 3_600_000 },
      { name: 'unified-7d', limit: null, remaining: 0, left: 0, resetMs: null },
    ]);
  });

  it('are read from Cerebras, Mistral, OpenRouter, Together and the RFC draft', () => {
    assert.deepEqual(
      read({
        'x-ratelimit-limit-requests-day': '100',
        'x-ratelimit-remaining-requests-day': '99',
        'x-ratelimit-reset-requests-day': '33011.5',
      }),
      [{ name: 'requests-day', limit: 100, remaining: 99, left: 0.99, resetMs: 33_011_500 }],
    );
    assert.deepEqual(
      read({ 'x-ratelimit-limit-tokens-minute': '500', 'x-ratelimit-remaining-tokens-minute': '100' }),
      [{ name: 'tokens-minute', limit: 500, remaining: 100, left: 0.2, resetMs: null }],
    );
    assert.deepEqual(
      read({
        'x-ratelimit-limit': '20',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(now + 2000),
      }),
      [{ name: 'requests', limit: 20, remaining: 0, left: 0, resetMs: 2000 }],
    );
    assert.deepEqual(read({ 'ratelimit-limit': '10', 'ratelimit-remaining': '5', 'ratelimit-reset': '7' }), [
      { name: 'requests', limit: 10, remaining: 5, left: 0.5, resetMs: 7000 },
    ]);
  });

  it('are omitted when they contain no information', () => {
    for (const value of ['', '-1', 'unlimited', 'NaN'])
      assert.deepEqual(read({ 'x-ratelimit-limit-requests': value, 'x-ratelimit-reset-requests': '1s' }), []);
    assert.equal(hasRateLimitHeaders({ 'content-type': 'application/json' }), false);
  });
});
