import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { stub } from '../../test/support/machine/stub.ts';
import type { RequestUsage } from '../budgets/ended-requests.ts';
import type { Refusal } from '../budgets/refusal.ts';
import type { BudgetReservation } from '../budgets/reservation.ts';
import { createLog } from '../lib/log.ts';
import type { ReserveQuestion, WorkerLoad } from './message.ts';
import { openWorkers, type Workers, type WorkersInput } from './open.ts';
import type { WorkerProcess, WorkerProcessInput } from './process.ts';

const load: WorkerLoad = {
  http: 0,
  open: 0,
  waiting: 0,
  inFlight: [],
  cpuSeconds: 0,
  residentBytes: 0,
  untold: 0,
};

/** A process in memory, which answers what it is asked unless it is stuck. */
interface Fake {
  number: number;
  input: WorkerProcessInput;
  stuck: boolean;
  killed: boolean;
}

const never = new Promise<never>(() => {});

/** Two workers, of whom none has joined yet. */
function pool(t: TestContext, reservationFor: WorkersInput['limits']['reservationFor'] = () => null) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const fakes: Fake[] = [];
  const files = { build: 'own' };
  const lines: string[] = [];
  const answers: Record<string, unknown> = { running: [], stopServing: { interrupted: 1 }, clearCache: 1 };
  const begin = (input: WorkerProcessInput): WorkerProcess => {
    const fake: Fake = { number: input.start.number, input, stuck: false, killed: false };
    fakes.push(fake);
    return {
      pid: fake.number,
      tell() {},
      ask: ((kind: string) =>
        fake.stuck ? never : Promise.resolve(answers[kind] ?? null)) as WorkerProcess['ask'],
      receive() {},
      waiting: () => 0,
      close() {},
      kill() {
        if (fake.killed) return;
        fake.killed = true;
        queueMicrotask(() => input.onEnd('SIGKILL'));
      },
    };
  };
  const recovered: string[] = [];
  const journals = {
    nextName: () => `journal-${fakes.length + 1}`,
    recover: async (name: string) => void recovered.push(name),
  };
  const workers: Workers = openWorkers(
    stub<WorkersInput>({
      count: 2,
      start: {},
      log: createLog({ level: 'info', pretty: false, write: (line) => lines.push(line) }),
      accessLog: null,
      now: () => 0,
      limits: { reservationFor },
      journals,
      accounts: { ownStates: () => [], receivedHints: () => [] },
      hosts: new Set(),
      serving: () => true,
      onChange() {},
    }),
    begin,
    () => files.build,
  );
  return { fakes, files, lines, recovered, workers };
}

/** The same, both serving. */
async function serving(t: TestContext, reservationFor?: WorkersInput['limits']['reservationFor']) {
  const made = pool(t, reservationFor);
  const listening = made.workers.listen(1);
  for (const fake of made.fakes) await serve(fake);
  await listening;
  const [one, other] = made.fakes;
  assert.ok(one && other);
  return { ...made, one, other };
}

async function serve({ input: { answers } }: Fake): Promise<void> {
  await answers.join(null);
  await answers.listening(null);
}

const question: ReserveQuestion = {
  reservation: 1,
  from: null,
  request: { keyId: 'key', comboId: null },
  connectionId: 'c',
  innerCombos: [],
  tokens: 1,
  usd: null,
  spares: 0,
};

const full = { reason: 'full' } as Refusal;

/** Until what is settled already has been handled everywhere. */
const settled = () => new Promise(setImmediate);

describe('workers of which one is stuck', () => {
  it('still respect a budget', async (t) => {
    const reservation: BudgetReservation = { reserve: () => full, settle() {}, rates: () => [] };
    const { one, other } = await serving(t, () => reservation);
    other.stuck = true;
    const answer = one.input.answers.reserve(question);
    await settled();
    t.mock.timers.tick(1_000);
    assert.deepEqual(await answer, { refusal: full, rates: [], spares: 0, at: 0 });
  });

  it('answer for themselves what all workers are asked', async (t) => {
    const { other, workers } = await serving(t);
    other.stuck = true;
    const cleared = workers.clearCaches();
    await settled();
    t.mock.timers.tick(30_000);
    assert.equal(await cleared, 1);
    let isStopped = false;
    const stopped = workers.stopServing(5_000, false).finally(() => {
      isStopped = true;
    });
    await settled();
    t.mock.timers.tick(34_999);
    await settled();
    assert.equal(isStopped, false, 'it has the time that its requests were given');
    t.mock.timers.tick(1);
    assert.deepEqual(await stopped, { interrupted: 1 });
  });

  it('continue while that one is restarted', async (t) => {
    const { fakes, lines, one, other } = await serving(t);
    for (let seconds = 0; seconds < 60; seconds += 10) {
      assert.equal(other.killed, false, `silent for ${seconds} s`);
      one.input.hear({ kind: 'load', load });
      t.mock.timers.tick(10_000);
    }
    // In the first interval both were heard: they began to serve.
    one.input.hear({ kind: 'load', load });
    t.mock.timers.tick(10_000);
    assert.deepEqual([one.killed, other.killed], [false, true]);
    assert.match(lines.join(''), /"worker":2,"msg":"a worker has been silent for a minute and is stopped"/);
    await settled();
    t.mock.timers.tick(100);
    assert.deepEqual(
      fakes.map(({ number }) => number),
      [1, 2, 2],
    );
  });

  it('have the whole minute from the moment they begin to serve', async (t) => {
    const { fakes, workers } = pool(t);
    const listening = workers.listen(1);
    t.mock.timers.tick(10_000);
    for (const fake of fakes) await serve(fake);
    await listening;
    t.mock.timers.tick(60_000);
    assert.deepEqual(
      fakes.map(({ killed }) => killed),
      [false, false],
    );
    t.mock.timers.tick(10_000);
    assert.deepEqual(
      fakes.map(({ killed }) => killed),
      [true, true],
    );
  });

  it('are not restarted for a short silence', async (t) => {
    const { one, other } = await serving(t);
    for (let looks = 0; looks < 30; looks += 1) {
      if (looks % 6 === 0) for (const fake of [one, other]) fake.input.hear({ kind: 'load', load });
      t.mock.timers.tick(10_000);
    }
    assert.deepEqual([one.killed, other.killed], [false, false]);
  });
});

describe('a worker that starts', () => {
  it('is restarted if it does not begin to serve', async (t) => {
    const { fakes, lines, workers } = pool(t);
    const listening = assert.rejects(workers.listen(1), /worker 2 was stopped: it does not serve after 60/);
    const [one, other] = fakes;
    assert.ok(one && other);
    await serve(one);
    one.input.hear({ kind: 'load', load });
    t.mock.timers.tick(59_999);
    assert.equal(other.killed, false);
    t.mock.timers.tick(1);
    await listening;
    assert.deepEqual([one.killed, other.killed], [false, true]);
    assert.match(lines.join(''), /"worker":2,"msg":"a worker is stopped: it does not serve/);
    await settled();
    t.mock.timers.tick(100);
    assert.equal(fakes.length, 3);
  });

  it('is started again if the system had no process for it', async (t) => {
    const { fakes, workers } = await serving(t);
    fakes[1]?.input.onEnd('SIGKILL');
    t.mock.timers.tick(100);
    fakes[2]?.input.onEnd('spawn EAGAIN');
    assert.deepEqual(
      workers.states().map(({ state }) => state),
      ['serving', 'ended'],
    );
    t.mock.timers.tick(200);
    assert.equal(fakes.length, 4);
    await workers.close();
  });
});

describe('a worker that ends after an update of the files', () => {
  it('is not started again until they are those of the gateway', async (t) => {
    const { fakes, files, lines, one, workers } = await serving(t);
    files.build = 'newer';
    one.input.onEnd('SIGKILL');
    assert.equal(workers.outdated(), false);
    t.mock.timers.tick(100);
    for (let looks = 0; looks < 3; looks += 1) t.mock.timers.tick(10_000);
    assert.deepEqual([fakes.length, workers.outdated()], [2, true]);
    const told = lines.filter((line) => line.includes('no worker can be started until it is restarted'));
    assert.equal(told.length, 1);
    files.build = 'own';
    t.mock.timers.tick(10_000);
    assert.deepEqual([fakes.length, workers.outdated()], [3, false]);
  });
});

describe('the reservation of a request', () => {
  it('is dropped if it could not be counted', async (t) => {
    let held = 0;
    const { lines, one } = await serving(t, () => {
      held += 1;
      return {
        async reserve() {
          throw new Error('no answer');
        },
        settle() {},
        rates: () => [],
      };
    });
    for (const times of [1, 2]) {
      await assert.rejects(one.input.answers.reserve(question), /no answer/);
      assert.equal(held, times, 'nothing is left of it');
    }
    assert.match(lines.join(''), /a request could not be counted by the budgets/);
  });

  it('is counted as used if its worker has ended, whose journal is recovered', async (t) => {
    const settlements: (RequestUsage | null)[] = [];
    const reservation: BudgetReservation = {
      reserve: () => null,
      settle: (used) => void settlements.push(used),
      rates: () => [],
    };
    const { one, recovered } = await serving(t, () => reservation);
    await one.input.answers.reserve({ ...question, tokens: 700, usd: 0.5 });
    one.input.onEnd('SIGKILL');
    assert.deepEqual(settlements, [{ tokens: 700, usd: 0.5 }]);
    assert.deepEqual(recovered, ['journal-1']);
  });
});
