import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EndedRequests, endedRequests, type RequestUsage, usageOf } from '../budgets/ended-requests.ts';
import type { BudgetReservation } from '../budgets/reservation.ts';
import type { BudgetRecord } from '../budgets/schema.ts';
import type { ReserveAnswer, ReserveQuestion, WorkerEvent } from './message.ts';
import { openRemoteLimits, type RemoteLimitsInput } from './remote-limits.ts';
import { eachSettlement } from './settlements.ts';

const budget: BudgetRecord = {
  id: 'bud_1',
  scope: 'key',
  subject: 'key_1',
  metric: 'tokens',
  period: 'day',
  limit: 1_000,
  softPercent: null,
  unpriced: 'allow',
  createdAt: 0,
  updatedAt: 0,
  resetAt: null,
};

/** The limits of a worker whose owner lets everything in, and reserves as much in advance as it is asked to. */
async function open({
  isIn = true,
  mayReserveAhead = true,
  metric = 'tokens' as BudgetRecord['metric'],
} = {}) {
  const told: WorkerEvent[] = [];
  const questions: ReserveQuestion[] = [];
  const clock = { now: 5_000_100 };
  const owner = {
    tell: (event: WorkerEvent) => void told.push(event),
    async ask(_: string, question: ReserveQuestion) {
      questions.push(question);
      const answer: Pick<ReserveAnswer, 'rates' | 'spares' | 'at'> = {
        rates: [{ metric: 'requests', limit: 100, remaining: 50, resetsAt: 0 }],
        spares: isIn && mayReserveAhead ? question.spares : 0,
        at: clock.now,
      };
      return { ...answer, refusal: isIn ? null : { reason: 'full' } };
    },
  } as RemoteLimitsInput['owner'];
  const budgets = { list: async () => [{ ...budget, metric }] };
  const limits = await openRemoteLimits({ owner, budgets, now: () => clock.now });
  const reserve = async (tokens = 100, tags: readonly string[] = []): Promise<BudgetReservation> => {
    const reservation = limits.reservationFor({ keyId: 'key_1', comboId: null, tags });
    assert.ok(reservation);
    await reservation.reserve({ connectionId: 'c', innerCombos: [], tokens: () => tokens, usd: () => 1 });
    return reservation;
  };
  const times = async (count: number, tokens?: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await reserve(tokens);
  };
  return { clock, limits, questions, reserve, times, told };
}

/** What the owner is told at the end of a request that had set aside 100 tokens and 1 USD, where it was let in. */
async function settled(
  used: RequestUsage | null,
  { isIn = true, metric = 'tokens' as BudgetRecord['metric'] } = {},
): Promise<{ settled: Settled[]; isAtOnce: boolean }> {
  const { limits, reserve, told } = await open({ isIn, metric });
  const reservation = await reserve();
  reservation.settle(used);
  reservation.settle(used);
  const isAtOnce = told.length === 1;
  limits.giveBack();
  assert.equal(told.length, 1);
  return { settled: settledIn(told), isAtOnce };
}

type Settled = [reservation: number, used: RequestUsage | null];

/** What the owner is told of the ends of requests, by their reservations. */
function endedIn(events: readonly WorkerEvent[]): [reservation: number, ended: EndedRequests][] {
  const all: [number, EndedRequests][] = [];
  for (const event of events)
    if (event.kind === 'settled') eachSettlement(event.settlements, (...one) => all.push(one));
  return all;
}

/** The same of requests of which each has a reservation of its own. */
function settledIn(events: readonly WorkerEvent[]): Settled[] {
  return endedIn(events).map(([reservation, ended]) => {
    assert.equal(ended.count, 1);
    return [reservation, usageOf(ended)];
  });
}

/** What the owner is told where nothing but so many reservations were given back. */
const givenBack = (reservation: number, count: number) => [[reservation, endedRequests(null, count)]];

describe('the end of a request that budgets concern', () => {
  it('is reported at once if it used more than it had reserved', async () => {
    for (const [metric, used, isMore] of [
      ['tokens', { tokens: 100, usd: 1 }, false],
      ['tokens', { tokens: 101, usd: 1 }, true],
      ['tokens', { tokens: 1, usd: 1.5 }, false],
      ['usd', { tokens: 101, usd: 1 }, false],
      ['usd', { tokens: 1, usd: 1.5 }, true],
      ['usd', { tokens: 1, usd: null }, false],
      ['usd', null, false],
      ['requests', { tokens: 101, usd: 1.5 }, false],
    ] as const)
      assert.deepEqual(await settled(used, { metric }), { settled: [[1, used]], isAtOnce: isMore });
  });

  it('is reported at once if it had reserved nothing and used something', async () => {
    const used = { tokens: 5, usd: 0 };
    assert.deepEqual(await settled(used, { isIn: false }), { settled: [[1, used]], isAtOnce: true });
  });

  it('is reported with others some milliseconds later, or before the next question', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { reserve, told } = await open();
    const [one, other] = [await reserve(), await reserve()];
    one.settle({ tokens: 7, usd: 0.5 });
    other.settle(null);
    assert.deepEqual(told, []);
    t.mock.timers.tick(50);
    assert.equal(told.length, 1);
    assert.deepEqual(settledIn(told), [
      [1, { tokens: 7, usd: 0.5 }],
      [3, null],
    ]);
    const third = await reserve();
    third.settle({ tokens: 1, usd: null });
    await reserve(1_000);
    assert.deepEqual(settledIn(told.slice(1)), [[4, { tokens: 1, usd: null }]]);
  });
});

describe('reservations in advance', () => {
  it('are requested once by requests that come at the same time', async () => {
    const { questions, reserve, times, told } = await open();
    await times(4);
    await Promise.all(Array.from({ length: 8 }, () => reserve()));
    assert.deepEqual(
      questions.map(({ spares }) => spares),
      // Those that come meanwhile wait for what the first of them has asked for.
      [0, 1, 3, 7],
    );
    await times(3);
    assert.equal(questions.length, 4);
    assert.deepEqual(told, []);
  });

  it('are requested by the second of requests that come at the same time, for all others', async () => {
    const { questions, reserve } = await open();
    await Promise.all(Array.from({ length: 16 }, () => reserve()));
    assert.deepEqual(
      questions.map(({ spares }) => spares),
      // The last of them asks ahead.
      [0, 15, 12],
    );
  });

  it('are waited for twice at most, and no longer if a request was refused', async () => {
    const few = await open({ mayReserveAhead: false });
    await Promise.all(Array.from({ length: 16 }, () => few.reserve()));
    const none = Array.from({ length: 13 }, () => 0);
    assert.deepEqual(
      few.questions.map(({ spares }) => spares),
      [0, 15, 15, ...none],
    );
    const full = await open({ isIn: false });
    await Promise.all(Array.from({ length: 16 }, () => full.reserve()));
    assert.deepEqual(
      full.questions.map(({ spares }) => spares),
      [0, 15, ...none, 0],
    );
  });

  it('are not taken by a request that ends while it waits for them', async () => {
    const { limits, questions, times, told } = await open();
    await times(7);
    const scope = { connectionId: 'c', innerCombos: [], tokens: () => 100, usd: () => 1 };
    const [first, second] = [1, 2].map(() =>
      limits.reservationFor({ keyId: 'key_1', comboId: null, tags: [] }),
    );
    const reserved = [first, second].map((one) => one?.reserve(scope));
    second?.settle({ tokens: 1, usd: 1 });
    assert.deepEqual(await Promise.all(reserved), [null, null]);
    assert.deepEqual([questions.length, questions[3]?.reservation, questions[3]?.spares], [4, 7, 7]);
    limits.giveBack();
    assert.deepEqual(endedIn(told), givenBack(8, 7));
  });

  it('admit requests without a question, more of them at higher rates', async () => {
    const { questions, times } = await open();
    await times(300);
    assert.deepEqual(
      questions.map(({ reservation, spares }) => [reservation, spares]),
      // The second asks for one more, which the third takes; the fourth for three more. From 16 on nobody waits for the owner any more.
      [
        [1, 0],
        [3, 1],
        [5, 3],
        [7, 7],
        [9, 15],
        [11, 19],
        [12, 30],
        [13, 48],
        [14, 78],
        [15, 124],
        [16, 198],
      ],
    );
  });

  it('are settled by their number, and say what is left as far as that is known', async () => {
    const { limits, reserve, times, told } = await open();
    await times(4);
    const [one, other] = [await reserve(), await reserve()];
    assert.deepEqual(
      [one, other].map((reservation) => reservation.rates()[0]?.remaining),
      [49, 48],
    );
    other.settle({ tokens: 7, usd: 0 });
    limits.giveBack();
    one.settle({ tokens: 5, usd: null });
    limits.giveBack();
    assert.deepEqual(endedIn(told), [
      [6, { count: 2, charged: 1, tokens: 7, nanoUsd: 0, unpriced: 0 }],
      [6, { count: 1, charged: 1, tokens: 5, nanoUsd: 0, unpriced: 1 }],
    ]);
  });

  it('are given back when the second is over, and never used in the next', async () => {
    const { clock, questions, times, told } = await open();
    await times(4);
    clock.now += 900;
    await times(1);
    assert.deepEqual(endedIn(told), givenBack(6, 3));
    assert.equal(questions.length, 4);
    assert.equal(questions.at(-1)?.spares, 3, 'as many as in the second before');
  });

  it('are given back on request, and when the budgets may have changed', async () => {
    const { limits, times, told } = await open();
    await times(4);
    limits.giveBack();
    limits.giveBack();
    assert.deepEqual(endedIn(told), givenBack(6, 3));
    await times(2);
    await limits.reload();
    limits.giveBack();
    assert.deepEqual(endedIn(told.slice(1)), givenBack(8, 3));
  });

  it('are for requests that need no more, and that the same budgets concern', async () => {
    const { questions, reserve, times } = await open();
    await times(4);
    await reserve(101);
    await reserve(100, ['team=core']);
    assert.equal(questions.length, 5);
    await reserve(99);
    assert.equal(questions.length, 5);
  });

  it('are for requests of any size if only requests are counted, and are not used for concurrency', async () => {
    const counted = await open({ metric: 'requests' });
    await counted.times(4);
    await counted.times(3, 1_000_000);
    assert.equal(counted.questions.length, 3);
    const running = await open({ metric: 'concurrency' });
    await running.times(10);
    assert.deepEqual(
      running.questions.map(({ spares }) => spares),
      Array.from({ length: 10 }, () => 0),
    );
  });
});
