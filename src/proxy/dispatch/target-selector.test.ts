import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stub } from '../../../test/support/machine/stub.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import type { Availability } from '../../health/accounts.ts';
import { findProvider } from '../../providers/index.ts';
import { type RetryPolicy, TargetSelector } from './target-selector.ts';

const start = 1_000_000;
const provider = findProvider('openai-compatible');
const targetOf = (id: string): Target =>
  stub({ connection: { id, name: id }, provider, model: 'm', format: 'openai-chat' });
const cooling: Availability = {
  may: 'last',
  condition: { state: 'cooling', until: start + 5000, reason: 'server error' },
};
const refused: Availability = {
  may: 'last',
  condition: { state: 'needs-attention', reason: 'credential refused' },
};
const waits = (ms: number, reason = 'rate limit'): Availability => {
  const until = start + ms;
  return { may: 'wait', until, condition: { state: 'cooling', until, reason } };
};

interface SetUp {
  /** By name, in the order of the targets; absent is ready. */
  admissions?: Record<string, Availability>;
  contexts?: Record<string, number>;
  retryPolicy?: Partial<RetryPolicy>;
}

function setUp(names: string, { admissions = {}, contexts = {}, retryPolicy = {} }: SetUp = {}) {
  const time = { now: start };
  const targets = [...names].map(targetOf) as [Target, ...Target[]];
  const selector = new TargetSelector({
    targets,
    retryPolicy: { waitMs: 0, maxAttempts: 10, maxElapsedMs: 120_000, ...retryPolicy },
    accounts: { availability: (id) => admissions[id] ?? { may: 'go' } },
    contextOf: ({ connection }) => contexts[connection.id] ?? null,
    now: () => time.now,
  });
  /** What is tried when every attempt fails as `kind`: names, and `.` for a wait. */
  const walk = (kind: Parameters<TargetSelector['failed']>[1]): string => {
    let path = '';
    for (let count = 0; count < 100; count += 1) {
      const turn = selector.next();
      if (turn.do === 'stop') return path;
      if (turn.do === 'wait') {
        time.now += turn.ms;
        path += '.';
        continue;
      }
      path += turn.target.connection.id;
      selector.failed(turn.target, kind);
    }
    throw new Error('it never stops');
  };
  return { admissions, time, turns: selector, walk };
}

describe('the target selector of a request', () => {
  it('tries the targets in order, and up to three times if the failure may be temporary', () => {
    assert.equal(setUp('abc').walk('server'), 'abc.abc.abc');
    assert.equal(setUp('abc').walk('timeout'), 'abc');
    assert.equal(setUp('a').walk('server'), 'a', 'one target alone is the client’s to try again');
  });

  it('prefers ready targets, and then those that are only estimated to be limited', () => {
    assert.equal(setUp('abc', { admissions: { a: cooling } }).walk('timeout'), 'bca');
    assert.equal(setUp('a', { admissions: { a: cooling } }).walk('server'), 'a');
  });

  it('uses targets that need attention only if nothing else was tried', () => {
    assert.equal(setUp('ab', { admissions: { a: refused } }).walk('timeout'), 'b');
    assert.equal(setUp('ab', { admissions: { a: refused, b: refused } }).walk('credential'), 'a');
    const { turns: selector, walk } = setUp('ab', { admissions: { a: refused } });
    walk('timeout');
    assert.deepEqual(
      selector.skipped().map(({ connection, reason }) => [connection, reason]),
      [['a', 'needs-attention']],
    );
  });

  it('respects the time that an upstream named, and reports how long that is', () => {
    const { turns: selector, walk } = setUp('ab', {
      admissions: { a: waits(9000, 'overloaded'), b: waits(4200) },
    });
    assert.equal(walk('server'), '');
    const error = selector.refusal();
    assert.deepEqual([error.status, error.retryAfter, selector.exhausted], [503, 5, true]);
    assert.match(error.message, /b rate limit until .*, a overloaded until/);
    const alone = setUp('a', { admissions: { a: waits(9000) } }).turns;
    assert.deepEqual([alone.refusal().status, alone.refusal().retryAfter, alone.exhausted], [429, 9, false]);
    assert.equal(
      setUp('ab', { admissions: { a: waits(9000), b: cooling } }).turns.exhausted,
      false,
      'a guess',
    );
    const many = setUp('abcdefghijkl', {
      admissions: Object.fromEntries([...'abcdefghijkl'].map((id) => [id, waits(9000)])),
    });
    assert.match(many.turns.refusal().message, /j rate limit until [0-9:]+ UTC and 2 more\. Try again/);
    const overloaded = setUp('a', { admissions: { a: waits(9000, 'overloaded') } });
    overloaded.walk('server');
    assert.deepEqual([overloaded.turns.refusal().status, overloaded.turns.refusal().retryAfter], [503, 9]);
  });

  it('waits for the first target that is ready again, as long as the combo allows', () => {
    const admissions: Record<string, Availability> = { a: waits(9000), b: waits(4200) };
    assert.equal(setUp('ab', { admissions, retryPolicy: { waitMs: 4000 } }).walk('server'), '');
    const { time, turns: selector } = setUp('ab', { admissions, retryPolicy: { waitMs: 5000 } });
    assert.deepEqual(selector.next(), { do: 'wait', ms: 4200 });
    time.now += 4200;
    delete admissions['b'];
    const turn = selector.next();
    assert.ok(turn.do === 'try');
    assert.equal(turn.target.connection.id, 'b');
  });

  it('stops at the limit of attempts and of time', () => {
    assert.equal(setUp('abc', { retryPolicy: { maxAttempts: 4 } }).walk('server'), 'abc.a');
    const { time, turns: selector } = setUp('abc', { retryPolicy: { maxElapsedMs: 1000 } });
    assert.equal(selector.next().do, 'try');
    time.now += 1001;
    assert.equal(selector.next().do, 'stop');
  });

  it('does not count the time of a target that missed its deadline', () => {
    const { time, turns: selector } = setUp('abc', { retryPolicy: { maxElapsedMs: 1000 } });
    const [first, second] = [selector.next(), selector.next()];
    assert.ok(first.do === 'try' && second.do === 'try');
    time.now += 600_000;
    selector.failed(second.target, 'timeout');
    assert.equal(selector.next().do, 'try');
    time.now += 1001;
    selector.failed(first.target, 'server');
    assert.equal(selector.next().do, 'stop');
  });

  it('tries only models with a larger context when a conversation is too long', () => {
    assert.equal(setUp('abcd', { contexts: { a: 100, b: 50, c: 200 } }).walk('context'), 'ac');
    assert.equal(setUp('ab').walk('context'), 'a');
  });
});
