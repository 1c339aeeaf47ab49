import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { nothingKnown } from '../../../test/support/routing/routing.ts';
import type { HealthView } from '../../health/health-view.ts';
import { strategyName } from '../schema.ts';
import { strategies } from './index.ts';
import type { Choice, StrategyContext } from './strategy.ts';

interface Known extends Choice {
  inFlight: number;
  recent: number;
  latency: number | null;
  /** Of the latency, in milliseconds; default 0. */
  age?: number;
  headroom: number | null;
  cost: number | null;
}

const choiceArbitrary = fc.record({
  weight: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1000, noNaN: true })),
  inFlight: fc.nat(20),
  recent: fc.nat(100),
  latency: fc.option(fc.double({ min: 0, max: 60_000, noNaN: true })),
  headroom: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  cost: fc.option(fc.double({ min: 0, max: 10, noNaN: true })),
});

const choicesArbitrary = fc
  .array(choiceArbitrary, { minLength: 1, maxLength: 40 })
  .map((all): Known[] => all.map((one, index) => ({ ...one, connectionId: `c${index}`, model: 'm' })));

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function momentOf(choices: readonly Known[], random: () => number, turn = 0): StrategyContext {
  const byConnection = new Map(choices.map((one) => [one.connectionId, one]));
  const healthView: HealthView = {
    ...nothingKnown,
    inFlight: (id) => byConnection.get(id)?.inFlight ?? 0,
    recentUse: (id) => byConnection.get(id)?.recent ?? 0,
    latencyMs: (id) => byConnection.get(id)?.latency ?? null,
    latencyAgeMs(id) {
      const one = byConnection.get(id);
      return one === undefined || one.latency === null ? null : (one.age ?? 0);
    },
    headroom: (id) => byConnection.get(id)?.headroom ?? null,
  };
  return {
    healthView: healthView,
    random,
    requestCount: () => turn,
    costOf: ({ connectionId }) => byConnection.get(connectionId)?.cost ?? null,
  };
}

function choice(connectionId: string, patch: Partial<Known> = {}): Known {
  return {
    connectionId,
    model: 'm',
    weight: 1,
    inFlight: 0,
    recent: 0,
    latency: null,
    headroom: null,
    cost: null,
    ...patch,
  };
}

const order = (id: keyof typeof strategies, choices: Known[], random = () => 0.5, turn = 0) =>
  strategies[id].order(choices, momentOf(choices, random, turn)).map(({ connectionId }) => connectionId);

describe('every strategy', () => {
  it('is in the list under its own name', () => {
    assert.deepEqual(Object.keys(strategies).sort(), [...strategyName.options].sort());
    for (const [name, { id, summary }] of Object.entries(strategies)) {
      assert.equal(id, name);
      assert.match(summary, /^[A-Z].*\.$/);
    }
  });

  for (const strategy of Object.values(strategies)) {
    it(`${strategy.id} orders all, drops none, and changes nothing`, () => {
      fc.assert(
        fc.property(choicesArbitrary, fc.nat(), fc.nat(1000), (choices, seed, turn) => {
          const before = [...choices];
          const ordered = strategy.order(choices, momentOf(choices, seeded(seed), turn));
          assert.deepEqual(choices, before);
          assert.equal(ordered.length, choices.length);
          assert.deepEqual(new Set(ordered), new Set(choices));
        }),
      );
    });

    it(`${strategy.id} is deterministic for equal input`, () => {
      fc.assert(
        fc.property(choicesArbitrary, fc.nat(), fc.nat(1000), (choices, seed, turn) => {
          const twice = [1, 2].map(() => strategy.order(choices, momentOf(choices, seeded(seed), turn)));
          assert.deepEqual(twice[0], twice[1]);
        }),
      );
    });
  }
});

describe('a strategy puts first', () => {
  const firsts = (id: keyof typeof strategies, choices: Known[], rounds: number): Map<string, number> => {
    const random = seeded(7);
    const counts = new Map<string, number>();
    for (let turn = 0; turn < rounds; turn += 1) {
      const [first = ''] = order(id, choices, random, turn);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    return counts;
  };
  const three = ['a', 'b', 'c'].map((name) => choice(name));
  const near = (actual: number | undefined, expected: number) =>
    assert.ok(Math.abs((actual ?? 0) - expected) < 300, `${actual} is not near ${expected}`);

  it('priority: the first of the list', () => {
    assert.deepEqual(order('priority', three), ['a', 'b', 'c']);
  });

  it('weighted: each as often as its weight says, and one without weight never', () => {
    const choices = [choice('a', { weight: 1 }), choice('b', { weight: 3 }), choice('z', { weight: 0 })];
    const counts = firsts('weighted', choices, 10_000);
    near(counts.get('a'), 2_500);
    near(counts.get('b'), 7_500);
    assert.equal(counts.get('z'), undefined);
  });

  it('weighted: draws the second by the weights of the others', () => {
    const choices = [choice('a', { weight: 2 }), choice('b', { weight: 1 }), choice('c', { weight: 1 })];
    const random = seeded(3);
    let seconds = 0;
    for (let turn = 0; turn < 10_000; turn += 1)
      if (order('weighted', choices, random)[1] === 'a') seconds += 1;
    // P(b first) P(a of a, c) + P(c first) P(a of a, b) = 1/4 · 2/3 · 2
    near(seconds, 3_333);
  });

  it('random: each as often as any other, in every order', () => {
    for (const count of firsts('random', three, 10_000).values()) near(count, 3_333);
    const random = seeded(5);
    const seen = new Map<string, number>();
    for (let turn = 0; turn < 6_000; turn += 1) {
      const way = order('random', three, random).join();
      seen.set(way, (seen.get(way) ?? 0) + 1);
    }
    assert.equal(seen.size, 6);
    for (const count of seen.values()) near(count, 1_000);
  });

  it('round-robin: one after the other', () => {
    const turns = [0, 1, 2, 3, 7].map((turn) => order('round-robin', three, () => 0, turn).join(''));
    assert.deepEqual(turns, ['abc', 'bca', 'cab', 'abc', 'bca']);
  });

  it('p2c: never the busiest, the idle one twice as often as the middle', () => {
    const choices = [choice('idle'), choice('half', { inFlight: 5 }), choice('busy', { inFlight: 9 })];
    const counts = firsts('p2c', choices, 9_000);
    near(counts.get('idle'), 6_000);
    near(counts.get('half'), 3_000);
    assert.equal(counts.get('busy'), undefined);
  });

  it('least-used: by requests in flight, then by recent requests, then by the list', () => {
    const choices = [
      choice('a', { inFlight: 2 }),
      choice('b', { inFlight: 1, recent: 9 }),
      choice('c', { inFlight: 1, recent: 3 }),
      choice('d', { inFlight: 1, recent: 3 }),
    ];
    assert.deepEqual(order('least-used', choices), ['c', 'd', 'b', 'a']);
  });

  it('lowest-latency: the quickest, unless it is busy; one never measured like the quickest', () => {
    const choices = [
      choice('slow', { latency: 900 }),
      choice('quick', { latency: 100 }),
      choice('busy', { latency: 90, inFlight: 5 }),
      choice('new'),
    ];
    assert.deepEqual(order('lowest-latency', choices), ['new', 'quick', 'busy', 'slow']);
    assert.deepEqual(order('lowest-latency', three), ['a', 'b', 'c']);
  });

  it('lowest-latency: a share of the requests measures what is unknown or was measured long ago', () => {
    const minute = 60_000;
    const first = (choices: Known[], draw: number) => order('lowest-latency', choices, () => draw)[0];
    const unknown = [
      choice('quick', { latency: 100 }),
      choice('new'),
      choice('newer'),
      choice('busy', { inFlight: 1 }),
    ];
    assert.equal(first(unknown, 0.25), 'quick');
    assert.equal(first(unknown, 0.249), 'newer');
    assert.equal(first(unknown, 0.124), 'new');
    const old = [
      choice('quick', { latency: 100 }),
      choice('slow-now', { latency: 5000, age: 4 * minute }),
      choice('slow-once', { latency: 5000, age: 6 * minute }),
    ];
    assert.equal(first(old, 0.05), 'quick');
    assert.equal(first(old, 0.049), 'slow-once');
    const [, , once] = old;
    assert.ok(once);
    assert.equal(
      first([choice('quick', { latency: 100 }), { ...once, inFlight: 1 }], 0),
      'quick',
      'under way',
    );
  });

  it('lowest-latency: finds that a target became quick, and one that was never tried', () => {
    const random = seeded(7);
    const real: Record<string, number> = { a: 100, b: 1000, c: 50 };
    const all = [choice('a', { latency: 100 }), choice('b', { latency: 1000 }), choice('c')];
    const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
    for (let second = 0; second < 3600; second += 1) {
      if (second === 1800) real['b'] = 10;
      const id = order('lowest-latency', all, random)[0] ?? '';
      counts[id] = (counts[id] ?? 0) + 1;
      for (const one of all) {
        one.age = one.connectionId === id ? 0 : (one.age ?? 0) + 1000;
        if (one.connectionId === id) one.latency = real[id] ?? null;
      }
      if (second === 1799) {
        assert.ok((counts['c'] ?? 0) > 1600, 'the fastest was found');
        assert.ok(
          (counts['b'] ?? 0) >= 3 && (counts['b'] ?? 0) < 20,
          `the slow one was asked ${counts['b']} times`,
        );
      }
    }
    assert.ok((counts['b'] ?? 0) > 1000, 'what became quick was found');
  });

  it('lowest-cost: the cheapest, what has no price last', () => {
    const choices = [choice('unknown'), choice('dear', { cost: 2 }), choice('free', { cost: 0 })];
    assert.deepEqual(order('lowest-cost', choices), ['free', 'dear', 'unknown']);
  });

  it('headroom: the one with most left, one without limits among the first', () => {
    const choices = [
      choice('low', { headroom: 0.1 }),
      choice('high', { headroom: 0.9 }),
      choice('unlimited'),
    ];
    assert.deepEqual(order('headroom', choices), ['unlimited', 'high', 'low']);
  });

  it('fill-first: the one that is used most, but not one that is used up', () => {
    const choices = [
      choice('fresh'),
      choice('empty', { headroom: 0 }),
      choice('half', { headroom: 0.5 }),
      choice('nearly', { headroom: 0.01 }),
    ];
    assert.deepEqual(order('fill-first', choices), ['nearly', 'half', 'fresh', 'empty']);
  });
});
