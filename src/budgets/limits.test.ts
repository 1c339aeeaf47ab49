import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { levelAt, limitOf, NANO } from './counter.ts';
import { addRequests, endedRequests, noRequests } from './ended-requests.ts';
import { createLimits, type Limits, type PastUsage } from './limits.ts';
import type { Refusal } from './refusal.ts';
import type { BudgetEvent, BudgetReservation } from './reservation.ts';
import type { BudgetRecord } from './schema.ts';
import { windowOf } from './window.ts';

const start = Date.UTC(2026, 10, 21, 10, 30);

function budget(patch: Partial<BudgetRecord> = {}): BudgetRecord {
  return {
    id: 'bud_1',
    scope: 'global',
    subject: null,
    metric: 'requests',
    limit: 3,
    period: 'minute',
    softPercent: null,
    unpriced: 'allow',
    createdAt: start,
    updatedAt: start,
    resetAt: null,
    ...patch,
  };
}

interface Opened {
  limits: Limits;
  clock: { now: number };
  events: BudgetEvent[];
}

async function opened(budgets: readonly BudgetRecord[], past: readonly PastUsage[] = []): Promise<Opened> {
  const clock = { now: start };
  const events: BudgetEvent[] = [];
  const limits = createLimits({
    now: () => clock.now,
    used: async () => past,
    nameOf: (_, subject) => `name of ${subject}`,
    notify: (event) => events.push(event),
    shared: null,
  });
  await limits.configure(budgets);
  return { limits, clock, events };
}

function reservationOf(limits: Limits, keyId = 'key_1', comboId: string | null = null): BudgetReservation {
  const reservation = limits.reservationFor({ keyId, comboId });
  assert.ok(reservation, 'a budget concerns the request');
  return reservation;
}

function take(
  reservation: BudgetReservation,
  {
    connectionId = 'con_1',
    innerCombos = [] as readonly string[],
    tokens = 10,
    usd = 0.5 as number | null,
  } = {},
): Refusal | null {
  const answer = reservation.reserve({ connectionId, innerCombos, tokens: () => tokens, usd: () => usd });
  assert.ok(!(answer instanceof Promise), 'in the process the answer is there at once');
  return answer;
}

describe('the price of a request', () => {
  const asks = { keyId: 'key_1', comboId: null };
  const isPriced = async (patch: Partial<BudgetRecord>, request: Parameters<Limits['isPriced']>[0] = asks) =>
    (await opened([budget({ id: 'bud_2', metric: 'usd', ...patch })])).limits.isPriced(request);

  it('matters where a budget in USD may be charged for it, and for no other', async () => {
    assert.equal((await opened([])).limits.isPriced(asks), false);
    assert.equal((await opened([budget()])).limits.isPriced(asks), false, 'requests are counted, not priced');
    assert.equal(await isPriced({ scope: 'global' }), true);
    assert.equal(await isPriced({ scope: 'key', subject: 'key_1' }), true);
    assert.equal(await isPriced({ scope: 'key', subject: 'key_2' }), false);
    assert.equal(await isPriced({ scope: 'connection', subject: 'con_9' }), true, 'it may go there');
    assert.equal(await isPriced({ scope: 'combo', subject: 'combo_1' }), false);
    const within = { keyId: 'key_1', comboId: 'combo_2' };
    assert.equal(await isPriced({ scope: 'combo', subject: 'combo_1' }, within), true, 'it may be within');
  });
});

describe('windows', () => {
  const at = Date.UTC(2026, 10, 21, 10, 30, 15, 250);
  const cases = [
    ['minute', Date.UTC(2026, 10, 21, 10, 30, 15), Date.UTC(2026, 10, 21, 10, 31, 16)],
    ['hour', Date.UTC(2026, 10, 21, 10, 30), Date.UTC(2026, 10, 21, 11, 31)],
    ['day', Date.UTC(2026, 10, 21), Date.UTC(2026, 10, 22)],
    ['week', Date.UTC(2026, 10, 16), Date.UTC(2026, 10, 23)],
    ['month', Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)],
  ] as const;
  for (const [period, bucket, end] of cases) {
    it(`of a ${period}`, () => {
      const window = windowOf(period);
      assert.equal(window.bucketAt(at), bucket);
      assert.equal(window.endOf(bucket), end);
      assert.equal(window.counts(bucket, at), true);
      assert.equal(window.counts(bucket, end - 1), true);
      assert.equal(window.counts(bucket, end), false);
      assert.equal(window.counts(window.bucketAt(window.from(at)), at), true, 'what it begins with counts');
    });
  }

  it('a bucket holds every moment for which it stands, and its window ends after it', () => {
    const moments = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
    fc.assert(
      fc.property(moments, fc.constantFrom(...cases.map(([period]) => period)), (moment, period) => {
        const window = windowOf(period);
        const bucket = window.bucketAt(moment);
        return bucket <= moment && moment < window.endOf(bucket) && window.bucketAt(bucket) === bucket;
      }),
    );
  });
});

describe('reservations in advance', () => {
  const request = { keyId: 'key_1', comboId: null };
  const scope = (tokens: number, usd: number | null) => ({
    connectionId: 'con_1',
    innerCombos: [],
    tokens: () => tokens,
    usd: () => usd,
  });
  const levelOf = (limits: Limits) => {
    const counter = limits.counter('bud_1');
    return counter === null ? null : levelAt(counter, start);
  };

  it('take a 32nd of what is left at most', async () => {
    const { limits } = await opened([budget({ metric: 'tokens', limit: 6_400 })]);
    assert.equal(limits.reserveInAdvance(request, scope(10, null), 50).count, 20);
    assert.equal(limits.reserveInAdvance(request, scope(201, null), 50).count, 0);
    assert.deepEqual(levelOf(limits), { spent: 0, held: 200, unpriced: 0 });
  });

  it('are settled by sums as each by itself would be', async () => {
    for (const metric of ['requests', 'tokens', 'usd'] as const) {
      const { limits } = await opened([budget({ metric, limit: 100_000, unpriced: 'refuse' })]);
      const uses = [
        { tokens: 7, usd: 0.1 },
        { tokens: 30, usd: null },
        null,
        { tokens: 0.6, usd: 0.000_000_000_6 },
      ];
      const group = limits.reserveInAdvance(request, scope(10, 0.5), uses.length);
      const ended = noRequests();
      for (const used of uses) addRequests(ended, used);
      group.settle(ended);
      const alone = await opened([budget({ metric, limit: 100_000, unpriced: 'refuse' })]);
      for (const used of uses) {
        const reservation = reservationOf(alone.limits);
        assert.equal(take(reservation), null);
        reservation.settle(used);
      }
      assert.deepEqual(levelOf(limits), levelOf(alone.limits), metric);
      assert.equal(levelOf(limits)?.held, 0);
    }
  });

  it('become the reservation of a request that moves to another target', async () => {
    const { limits } = await opened([budget({ metric: 'tokens', limit: 6_400 })]);
    const group = limits.reserveInAdvance(request, scope(10, null), 3);
    const one = group.takeOne();
    assert.equal(take(one, { connectionId: 'con_2', tokens: 25 }), null);
    assert.equal(levelOf(limits)?.held, 45);
    one.settle({ tokens: 5, usd: null });
    group.settle(endedRequests(null, 2));
    assert.deepEqual(levelOf(limits), { spent: 5, held: 0, unpriced: 0 });
  });
});

describe('what a request turned out to have used afterwards', () => {
  const used = { tokens: 30, usd: 0.25 };
  const spent = (limits: Limits, id: string, at: number) => {
    const counter = limits.counter(id);
    return counter === null ? null : levelAt(counter, at).spent;
  };

  it('counts as money and as tokens, and not as another request', async () => {
    const { limits } = await opened([
      budget(),
      budget({ id: 'tokens', metric: 'tokens', limit: 100 }),
      budget({ id: 'usd', metric: 'usd', limit: 1, scope: 'connection', subject: 'con_1' }),
      budget({ id: 'other', metric: 'usd', limit: 1, scope: 'key', subject: 'key_2' }),
    ]);
    const way = { connectionId: 'con_1', innerCombos: [] };
    limits.countMore({ keyId: 'key_1', comboId: null }, way, start, used);
    const levels = ['bud_1', 'tokens', 'usd', 'other'].map((id) => spent(limits, id, start));
    assert.deepEqual(levels, [0, 30, 0.25 * NANO, 0]);
    limits.countMore({ keyId: 'key_1', comboId: null }, null, start, { tokens: -5, usd: null });
    assert.equal(spent(limits, 'tokens', start), 30, 'nothing is given back');
  });

  it('counts in the window in which it began, and not from before a reset', async () => {
    const { limits } = await opened([
      budget({ id: 'tokens', metric: 'tokens' }),
      budget({ id: 'reset', metric: 'tokens', period: 'day', resetAt: start }),
    ]);
    limits.countMore({ keyId: 'key_1', comboId: null }, null, start - 120_000, used);
    assert.deepEqual([spent(limits, 'tokens', start), spent(limits, 'reset', start)], [0, 0]);
    assert.equal(spent(limits, 'tokens', start - 100_000), 30);
  });
});

describe('a limit', () => {
  it('lets in as many as fit, and again when the oldest has left the window', async () => {
    const { clock, limits } = await opened([budget()]);
    const holds = [0, 1, 2].map(() => reservationOf(limits));
    for (const reservation of holds) {
      assert.equal(take(reservation), null);
      reservation.settle({ tokens: 1, usd: 0 });
      clock.now += 10_000;
    }
    const refused = take(reservationOf(limits));
    assert.equal(refused?.spent, 3);
    assert.equal(refused?.retryAt, start + 61_000, 'when the first second has left the minute');
    clock.now = start + 61_000;
    assert.equal(take(reservationOf(limits)), null);
    assert.notEqual(take(reservationOf(limits)), null);
  });

  it('on concurrent requests is free again when a request has ended', async () => {
    const { limits } = await opened([budget({ metric: 'concurrency', period: null, limit: 1 })]);
    const first = reservationOf(limits);
    assert.equal(take(first), null);
    assert.notEqual(take(reservationOf(limits)), null);
    first.settle({ tokens: 5, usd: 1 });
    assert.equal(take(reservationOf(limits)), null);
  });

  it('counts input and output, and replaces the estimate by what was used', async () => {
    const { limits } = await opened([budget({ metric: 'tokens', limit: 100 })]);
    const reservation = reservationOf(limits);
    assert.equal(take(reservation, { tokens: 80 }), null);
    assert.notEqual(take(reservationOf(limits), { tokens: 30 }), null);
    reservation.settle({ tokens: 20, usd: 0 });
    assert.equal(take(reservationOf(limits), { tokens: 80 }), null);
  });

  it('in USD reserves what a request may cost, without a rounding remainder', async () => {
    const { clock, limits } = await opened([budget({ metric: 'usd', limit: 1, period: 'day' })]);
    for (let index = 0; index < 10; index += 1) {
      const reservation = reservationOf(limits);
      assert.equal(take(reservation, { usd: 0.1 }), null);
      reservation.settle({ tokens: 1, usd: 0.1 });
    }
    const counter = limits.counter('bud_1');
    assert.ok(counter);
    assert.deepEqual(levelAt(counter, clock.now), { spent: NANO, held: 0, unpriced: 0 });
    assert.notEqual(take(reservationOf(limits), { usd: 1e-9 }), null);
    assert.equal(take(reservationOf(limits), { usd: 0 }), null, 'what costs nothing is let in');
  });

  it('is charged where the request was used: an attempt elsewhere releases the first reservation', async () => {
    const ofConnection = (id: string, subject: string) =>
      budget({ id, scope: 'connection', subject, metric: 'tokens', limit: 100, period: 'day' });
    const { clock, limits } = await opened([ofConnection('a', 'con_a'), ofConnection('b', 'con_b')]);
    const reservation = reservationOf(limits);
    assert.equal(take(reservation, { connectionId: 'con_a', tokens: 60 }), null);
    assert.equal(take(reservation, { connectionId: 'con_b', tokens: 60 }), null);
    reservation.settle({ tokens: 40, usd: null });
    const levels = ['a', 'b'].map((id) => {
      const counter = limits.counter(id);
      return counter === null ? null : levelAt(counter, clock.now);
    });
    assert.deepEqual(levels, [
      { spent: 0, held: 0, unpriced: 0 },
      { spent: 40, held: 0, unpriced: 0 },
    ]);
  });

  it('of a nested combo is charged for requests through it, and released when the next attempt leaves it', async () => {
    const ofCombo = (id: string) => budget({ id, scope: 'combo', subject: id, limit: 2 });
    const { clock, limits } = await opened([ofCombo('outer'), ofCombo('inner')]);
    const levels = () =>
      ['outer', 'inner'].map((id) => {
        const counter = limits.counter(id);
        assert.ok(counter);
        const { held, spent } = levelAt(counter, clock.now);
        return [spent, held];
      });
    const reservation = reservationOf(limits, 'key_1', 'outer');
    assert.equal(take(reservation, { innerCombos: ['inner'] }), null);
    assert.deepEqual(levels(), [
      [0, 1],
      [0, 1],
    ]);
    assert.equal(take(reservation), null);
    assert.deepEqual(levels(), [
      [0, 1],
      [0, 0],
    ]);
    assert.equal(take(reservation, { innerCombos: ['inner'] }), null);
    reservation.settle({ tokens: 1, usd: 0 });
    assert.deepEqual(levels(), [
      [1, 0],
      [1, 0],
    ]);
    assert.equal(take(reservationOf(limits, 'key_1', 'inner')), null, 'asked for by its own name');
    const full = reservationOf(limits, 'key_1', 'outer');
    assert.equal(take(full, { innerCombos: ['inner'] })?.budget.id, 'inner');
    assert.equal(take(full), null, 'another target has room');
  });

  it('of a combo in another counts also where the outer one has no budget', async () => {
    const { limits } = await opened([budget({ scope: 'combo', subject: 'inner', limit: 1 })]);
    const through = { innerCombos: ['between', 'inner'] };
    assert.equal(take(reservationOf(limits, 'key_1', 'outer'), through), null);
    assert.equal(take(reservationOf(limits, 'key_2', 'outer'), through)?.budget.scope, 'combo');
    assert.equal(limits.reservationFor({ keyId: 'key_1', comboId: null }), null, 'no combo was asked for');
  });

  it('counts requests without a price, or refuses them', async () => {
    const usd = { metric: 'usd', limit: 1, period: 'day' } as const;
    const allowing = await opened([budget(usd)]);
    const reservation = reservationOf(allowing.limits);
    assert.equal(take(reservation, { usd: null }), null);
    reservation.settle({ tokens: 9, usd: null });
    const counter = allowing.limits.counter('bud_1');
    assert.ok(counter);
    assert.equal(levelAt(counter, start).unpriced, 1);
    const refusing = await opened([budget({ ...usd, unpriced: 'refuse' })]);
    assert.equal(take(reservationOf(refusing.limits), { usd: null })?.reason, 'unpriced');
  });

  it('counts the estimate where the cost of a request stays unknown', async () => {
    const { limits } = await opened([
      budget({ metric: 'usd', limit: 1, period: 'day', unpriced: 'refuse' }),
      budget({ id: 'allowing', scope: 'key', subject: 'key_1', metric: 'usd', limit: 1, period: 'day' }),
    ]);
    const reservation = reservationOf(limits);
    assert.equal(take(reservation, { usd: 0.5 }), null);
    reservation.settle({ tokens: 9, usd: null });
    const levels = ['bud_1', 'allowing'].map((id) => {
      const counter = limits.counter(id);
      assert.ok(counter);
      const { spent, unpriced } = levelAt(counter, start);
      return [spent / NANO, unpriced];
    });
    assert.deepEqual(levels, [
      [0.5, 1],
      [0, 1],
    ]);
  });

  it('of a team, an owner or a tag counts the requests that have it, whoever sends them', async () => {
    const { limits } = await opened([
      budget({ id: 'team', scope: 'team', subject: 'core', limit: 2 }),
      budget({ id: 'tag', scope: 'tag', subject: 'env=ci', limit: 1 }),
      budget({ id: 'owner', scope: 'owner', subject: 'ann', metric: 'usd', limit: 1 }),
    ]);
    const of = (tags: string[], keyId = 'key_1') => limits.reservationFor({ keyId, comboId: null, tags });
    const refusedBy = (tags: string[], keyId?: string) => {
      const reservation = of(tags, keyId);
      assert.ok(reservation);
      const refusal = take(reservation);
      if (refusal === null) reservation.settle({ tokens: 1, usd: 0 });
      return refusal?.budget.id ?? null;
    };
    assert.equal(of([]), null);
    assert.equal(of(['team=data', 'core', 'env']), null);
    assert.equal(refusedBy(['team=core', 'env=ci']), null);
    assert.equal(refusedBy(['env=ci'], 'key_2'), 'tag');
    assert.equal(refusedBy(['team=core'], 'key_3'), null);
    assert.equal(refusedBy(['team=core', 'other'], 'key_4'), 'team');
    const ann = { keyId: 'key_1', comboId: null, tags: ['owner=ann'] };
    assert.deepEqual([limits.isPriced(ann), limits.isPriced({ ...ann, tags: [] })], [true, false]);
    limits.countMore(ann, null, start, { tokens: 5, usd: 0.75 });
    assert.equal(refusedBy(['owner=ann']), 'owner', '0.75 USD and 0.5 USD are more than 1 USD');
  });

  it('reports its threshold and its exhaustion once in a window', async () => {
    const { clock, events, limits } = await opened([budget({ period: 'day', limit: 5, softPercent: 80 })]);
    const one = () => {
      const reservation = reservationOf(limits);
      if (take(reservation) === null) reservation.settle({ tokens: 1, usd: 0 });
    };
    for (let index = 0; index < 8; index += 1) one();
    assert.deepEqual(
      events.map(({ kind, used }) => [kind, used]),
      [
        ['soft', 4],
        ['exceeded', 5],
      ],
    );
    clock.now += 86_400_000;
    for (let index = 0; index < 8; index += 1) one();
    assert.equal(events.length, 4);
  });

  it('is reported once in a window, also after a restart', async () => {
    const past = { at: start - 1000, usd: 0, tokens: 9, requests: 9, unpriced: 0, first: 'req_1' };
    const before = budget({ metric: 'requests', limit: 10, period: 'day', softPercent: 80 });
    for (const [updatedAt, expected] of [
      [start - 1, ['exceeded']],
      [start + 1, ['soft', 'exceeded']],
    ] as const) {
      const { events, limits } = await opened([{ ...before, updatedAt }], [past]);
      const reservation = reservationOf(limits);
      assert.equal(take(reservation), null);
      reservation.settle({ tokens: 1, usd: 0 });
      assert.deepEqual(
        events.map(({ kind }) => kind),
        expected,
      );
    }
  });

  it('starts with the usage that the ledger has for its window', async () => {
    const past = { at: start - 1000, usd: 0.5, tokens: 90, requests: 2, unpriced: 1, first: 'req_1' };
    const { limits } = await opened([budget()], [past]);
    assert.equal(take(reservationOf(limits)), null);
    assert.notEqual(take(reservationOf(limits)), null);
  });

  it('keeps counting when it is changed, and starts over when it is reset', async () => {
    const { limits } = await opened([budget({ limit: 1 })]);
    const reservation = reservationOf(limits);
    assert.equal(take(reservation), null);
    reservation.settle({ tokens: 1, usd: 0 });
    await limits.configure([budget({ limit: 2 })]);
    assert.equal(take(reservationOf(limits)), null);
    assert.notEqual(take(reservationOf(limits)), null);
    await limits.configure([budget({ limit: 2, resetAt: start })]);
    assert.equal(take(reservationOf(limits)), null, 'the open one still holds its place, and no more');
    assert.notEqual(take(reservationOf(limits)), null);
  });

  it('counts requests that were under way when it was made', async () => {
    const { clock, limits } = await opened([budget({ id: 'old', limit: 9 })]);
    const reservation = reservationOf(limits);
    assert.equal(take(reservation), null);
    await limits.configure([budget({ id: 'old', limit: 9 }), budget({ id: 'new', limit: 9 })]);
    reservation.settle({ tokens: 1, usd: 0 });
    const counter = limits.counter('new');
    assert.ok(counter);
    assert.deepEqual(levelAt(counter, clock.now), { spent: 1, held: 0, unpriced: 0 });
  });

  it('is not thrown off by a clock that is put forward and back', async () => {
    const { clock, limits } = await opened([budget({ limit: 1 })]);
    clock.now += 86_400_000;
    const reservation = reservationOf(limits);
    assert.equal(take(reservation), null);
    clock.now = start;
    reservation.settle({ tokens: 1, usd: 0 });
    assert.equal(take(reservationOf(limits)), null);
  });
});

const budgets: readonly BudgetRecord[] = [
  budget({ id: 'global-usd', metric: 'usd', limit: 2, period: 'day' }),
  budget({
    id: 'key-tokens',
    scope: 'key',
    subject: 'key_1',
    metric: 'tokens',
    limit: 300,
    period: 'minute',
  }),
  budget({ id: 'key-requests', scope: 'key', subject: 'key_2', limit: 4, period: 'minute' }),
  budget({ id: 'con-usd', scope: 'connection', subject: 'con_1', metric: 'usd', limit: 1, period: 'month' }),
  budget({
    id: 'con-open',
    scope: 'connection',
    subject: 'con_2',
    metric: 'concurrency',
    limit: 2,
    period: null,
  }),
  budget({ id: 'global-requests', limit: 12, period: 'hour' }),
  budget({ id: 'outer-usd', scope: 'combo', subject: 'outer', metric: 'usd', limit: 1.5, period: 'hour' }),
  budget({
    id: 'inner-open',
    scope: 'combo',
    subject: 'inner',
    metric: 'concurrency',
    limit: 2,
    period: null,
  }),
  budget({
    id: 'inner-tokens',
    scope: 'combo',
    subject: 'inner',
    metric: 'tokens',
    limit: 250,
    period: 'day',
  }),
];

interface AskedWay {
  connectionId: string;
  innerCombos: readonly string[];
}

type Step =
  | { kind: 'ask'; key: string; way: AskedWay; tokens: number; cents: number }
  | { kind: 'move'; which: number; way: AskedWay }
  | { kind: 'settle'; which: number; share: number }
  | { kind: 'leave'; which: number }
  | { kind: 'wait'; ms: number };

const which = fc.nat(7);
const way: fc.Arbitrary<AskedWay> = fc.record({
  connectionId: fc.constantFrom('con_1', 'con_2', 'con_3'),
  innerCombos: fc.constantFrom<readonly string[]>([], ['inner'], ['other', 'inner']),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      key: fc.constantFrom('key_1', 'key_2', 'key_3'),
      way,
      tokens: fc.integer({ min: 1, max: 200 }),
      cents: fc.integer({ min: 0, max: 60 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), which, way }) },
  {
    weight: 3,
    // Up to a half more than was estimated.
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which,
      share: fc.double({ min: 0, max: 1.5, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 900, 20_000, 61_000, 4_000_000, 90_000_000),
    }),
  },
);

interface Open {
  reservation: BudgetReservation;
  tokens: number;
  usd: number;
}

describe('any schedule of requests', () => {
  it('overspends by no more than the estimation error, and leaves nothing reserved', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, limits } = await opened(budgets);
        const open: Open[] = [];
        /** By how much the estimates were wrong, in USD, and how many tokens. */
        const wrong = { usd: 0, tokens: 0 };
        for (const one of steps) {
          run(one, { limits, clock, open, wrong });
          inBounds(limits, clock.now, wrong);
        }
        for (const { reservation, tokens, usd } of open) reservation.settle({ tokens, usd });
        for (const { id } of budgets) {
          for (const { held } of limits.counter(id)?.buckets.values() ?? [])
            assert.equal(held, 0, `${id} is stuck`);
        }
      }),
      { numRuns: 10_000 },
    );
  });
});

interface World {
  limits: Limits;
  clock: { now: number };
  open: Open[];
  wrong: { usd: number; tokens: number };
}

function run(one: Step, { clock, limits, open, wrong }: World): void {
  switch (one.kind) {
    case 'ask': {
      const reservation = reservationOf(limits, one.key, 'outer');
      const scope = { ...one.way, tokens: one.tokens, usd: one.cents / 100 };
      if (take(reservation, scope) === null)
        open.push({ reservation: reservation, tokens: one.tokens, usd: scope.usd });
      return;
    }
    case 'move': {
      const moved = open[one.which];
      if (moved === undefined) return;
      // One that finds no room elsewhere was used nowhere.
      if (take(moved.reservation, { ...one.way, tokens: moved.tokens, usd: moved.usd }) === null) return;
      moved.reservation.settle(null);
      open.splice(one.which, 1);
      return;
    }
    case 'settle': {
      const [ended] = open.splice(one.which, 1);
      if (ended === undefined) return;
      const used = { tokens: Math.round(ended.tokens * one.share), usd: ended.usd * one.share };
      wrong.usd += Math.max(0, used.usd - ended.usd);
      wrong.tokens += Math.max(0, used.tokens - ended.tokens);
      ended.reservation.settle(used);
      return;
    }
    case 'leave': {
      const [left] = open.splice(one.which, 1);
      left?.reservation.settle(null);
      return;
    }
    case 'wait':
      clock.now += one.ms;
  }
}

function inBounds(limits: Limits, now: number, wrong: World['wrong']): void {
  for (const { id, metric } of budgets) {
    const counter = limits.counter(id);
    assert.ok(counter);
    const { held, spent } = levelAt(counter, now);
    // Money is held in whole billionths, rounded up: one for each request.
    const error = metric === 'usd' ? wrong.usd * NANO + 100 : metric === 'tokens' ? wrong.tokens : 0;
    assert.ok(spent + held <= limitOf(counter) + error, `${id}: ${spent} + ${held} of ${limitOf(counter)}`);
  }
}
