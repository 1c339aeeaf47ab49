import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Budget } from './queries.ts';
import { limitsOf, tightestLimit } from './tightest-limit.ts';

const budget = (
  id: string,
  scope: Budget['scope'],
  subject: string | null,
  used_percent: number,
): Budget => ({
  id,
  scope,
  subject,
  subject_name: null,
  metric: 'usd',
  limit: 10,
  period: 'month',
  window: 'calendar',
  spent: used_percent / 10,
  reserved: 0,
  remaining: 10 - used_percent / 10,
  used_percent,
  state: 'ok',
  soft_reached_at: null,
  limit_reached_at: null,
  unpriced_requests: 0,
  resets_at: null,
  soft_percent: 80,
  unpriced: 'refuse',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
});

const key = { id: 'key_1', owner: 'ana', team: 'core', labels: { env: 'ci' } };

describe('the tightest limit of a key', () => {
  const all = [
    budget('all', 'global', null, 20),
    budget('own', 'key', 'key_1', 10),
    budget('another', 'key', 'key_2', 99),
    budget('team', 'team', 'core', 30),
    budget('owner', 'owner', 'ana', 5),
    budget('label', 'tag', 'env=ci', 50),
    budget('other label', 'tag', 'env=prod', 90),
    budget('connection', 'connection', 'con_1', 95),
  ];

  it('considers the limits of the key, its team, its owner, its labels and everybody', () => {
    assert.deepEqual(
      limitsOf(key, all).map(({ id }) => id),
      ['all', 'own', 'team', 'owner', 'label'],
    );
  });

  it('is the limit with the highest share used', () => {
    assert.equal(tightestLimit(key, all)?.id, 'label');
    assert.equal(tightestLimit({ ...key, labels: {} }, all)?.id, 'team');
    assert.equal(tightestLimit({ ...key, labels: {}, owner: null, team: null }, [])?.id, undefined);
  });
});
