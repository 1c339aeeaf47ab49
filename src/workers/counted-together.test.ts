import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stub } from '../../test/support/machine/stub.ts';
import { createLimits } from '../budgets/limits.ts';
import type { BudgetEvent, BudgetReservation } from '../budgets/reservation.ts';
import type { BudgetRecord } from '../budgets/schema.ts';
import { createLog } from '../lib/log.ts';
import type { OwnerQuestions, WorkerEvent } from './message.ts';
import { openWorkers, type WorkersInput } from './open.ts';
import type { WorkerProcess, WorkerProcessInput } from './process.ts';
import { openRemoteLimits, type RemoteLimits, type RemoteLimitsInput } from './remote-limits.ts';

const NOW = Date.UTC(2026, 10, 24, 12);

/** The limits of an owner and of two workers, with what they tell each other, each thing in a turn of its own. */
async function together(budget: Pick<BudgetRecord, 'metric' | 'limit'>) {
  const events: BudgetEvent[] = [];
  const record: BudgetRecord = {
    id: 'bud_1',
    scope: 'key',
    subject: 'key_1',
    period: 'day',
    softPercent: null,
    unpriced: 'allow',
    createdAt: NOW,
    updatedAt: NOW,
    resetAt: null,
    ...budget,
  };
  const clock = { now: NOW };
  const now = () => clock.now;
  const limits = createLimits({
    used: async () => [],
    shared: null,
    nameOf: () => null,
    notify: (event) => void events.push(event),
    now,
  });
  await limits.configure([record]);
  const inputs: WorkerProcessInput[] = [];
  const remotes: RemoteLimits[] = [];
  const ask = async (kind: string, index: number) => {
    await new Promise(setImmediate);
    if (kind === 'flush') remotes[index]?.giveBack();
    return null;
  };
  const begin = (input: WorkerProcessInput): WorkerProcess => {
    const index = inputs.push(input) - 1;
    return {
      pid: index + 1,
      tell() {},
      ask: ((kind: string) => ask(kind, index)) as WorkerProcess['ask'],
      receive() {},
      waiting: () => 0,
      close() {},
      kill: () => queueMicrotask(() => input.onEnd('SIGKILL')),
    };
  };
  const workers = openWorkers(
    stub<WorkersInput>({
      count: 2,
      start: {},
      log: createLog({ level: 'error', pretty: false, write() {} }),
      now,
      limits,
      journals: { nextName: () => 'journal', recover: async () => {} },
      accounts: { ownStates: () => [], receivedHints: () => [] },
      hosts: new Set(),
      serving: () => true,
      onChange() {},
    }),
    begin,
    () => 'own',
  );
  const listening = workers.listen(1);
  const counts = { questions: 0 };
  for (const input of inputs) {
    const owner = {
      tell: (event: WorkerEvent) => input.hear(event),
      async ask(kind: 'reserve', question: OwnerQuestions['reserve']['question']) {
        counts.questions += 1;
        await new Promise(setImmediate);
        return input.answers[kind](question);
      },
    } as RemoteLimitsInput['owner'];
    remotes.push(await openRemoteLimits({ owner, budgets: { list: async () => [record] }, now }));
    await input.answers.join(null);
    await input.answers.listening(null);
  }
  await listening;
  /** What a request of a worker holds; null where it was refused. */
  const request = async (worker: number, tokens: number): Promise<BudgetReservation | null> => {
    const reservation = remotes[worker]?.reservationFor({ keyId: 'key_1', comboId: null });
    assert.ok(reservation);
    const scope = { connectionId: 'c', innerCombos: [], tokens: () => tokens, usd: () => null };
    return (await reservation.reserve(scope)) === null ? reservation : null;
  };
  const end = (worker: number): void => inputs[worker]?.onEnd('SIGKILL');
  return { clock, counts, end, events, limits, remotes, request, workers };
}

describe('a limit that two workers count by reservations in advance', () => {
  it('lets through exactly what fits, one after the other and at once', async () => {
    for (const atOnce of [1, 7, 50]) {
      const { clock, counts, events, limits, request, workers } = await together({
        metric: 'requests',
        limit: 1_000,
      });
      let admitted = 0;
      for (let sent = 0; sent < 1_400; sent += atOnce) {
        clock.now += 37;
        const all = Array.from({ length: Math.min(atOnce, 1_400 - sent) }, (_, index) =>
          request((sent + index) % 3 === 0 ? 0 : 1, 1),
        );
        for (const reservation of await Promise.all(all)) {
          if (reservation !== null) admitted += 1;
          reservation?.settle({ tokens: 1, usd: null });
        }
        if (admitted < 1_000) assert.equal(events.length, 0, 'nobody is told before it is exceeded');
      }
      assert.equal(admitted, 1_000);
      assert.ok(counts.questions < 1_000, `${counts.questions} questions of 1400 requests`);
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ['exceeded'],
      );
      const counter = limits.counter('bud_1');
      const [bucket] = [...(counter?.buckets.values() ?? [])];
      assert.deepEqual([bucket?.spent, bucket?.held], [1_000, 0]);
      await workers.close();
    }
  });

  it('counts what was used, and gives back the rest', async () => {
    const { clock, limits, remotes, request, workers } = await together({
      metric: 'tokens',
      limit: 1_000_000,
    });
    for (let sent = 0; sent < 500; sent += 1) {
      clock.now += 10;
      const reservation = await request(sent % 2, 100 + (sent % 5));
      reservation?.settle(sent % 10 === 0 ? null : { tokens: 60, usd: null });
    }
    for (const remote of remotes) remote.giveBack();
    const [bucket] = [...(limits.counter('bud_1')?.buckets.values() ?? [])];
    assert.deepEqual([bucket?.spent, bucket?.held], [450 * 60, 0]);
    await workers.close();
  });

  it('reports with each answer what is left, and admits most requests without a question', async () => {
    const { clock, counts, request, workers } = await together({ metric: 'requests', limit: 100_000 });
    let waited = 0;
    for (let sent = 1; sent <= 500; sent += 1) {
      clock.now += 1;
      const { questions } = counts;
      const reservation = await request(0, 1);
      assert.equal(reservation?.rates()[0]?.remaining, 100_000 - sent);
      if (counts.questions > questions) waited += 1;
      reservation.settle({ tokens: 1, usd: null });
      if (sent % 10 === 0) await new Promise(setImmediate);
    }
    assert.ok(waited < 30, `${waited} of 500`);
    await workers.close();
  });

  it('counts a request once if it goes on to another target, and with its full reservation if its worker ends', async () => {
    const { clock, end, limits, remotes, request, workers } = await together({
      metric: 'tokens',
      limit: 1_000_000,
    });
    for (let sent = 0; sent < 100; sent += 1) {
      clock.now += 1;
      const reservation = await request(0, 100);
      const scope = { connectionId: 'd', innerCombos: [], tokens: () => 200, usd: () => null };
      if (sent % 2 > 0) assert.equal(await reservation?.reserve(scope), null);
      reservation?.settle({ tokens: 60, usd: null });
    }
    remotes[0]?.giveBack();
    const [bucket] = [...(limits.counter('bud_1')?.buckets.values() ?? [])];
    assert.deepEqual([bucket?.spent, bucket?.held], [100 * 60, 0]);
    for (let sent = 0; sent < 10; sent += 1) await request(1, 100);
    assert.ok((bucket?.held ?? 0) >= 1_000);
    const { held = 0 } = bucket ?? {};
    end(1);
    assert.deepEqual([bucket?.spent, bucket?.held], [100 * 60 + held, 0]);
    await workers.close();
  });
});
