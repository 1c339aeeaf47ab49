import assert from 'node:assert/strict';
import type { Channel } from '../../src/events/channels/channel.ts';
import { openEventDatabase } from '../../src/events/database/event-database.ts';
import { createDeadLetters } from '../../src/events/dead-letters/store.ts';
import { createTriggerLetters } from '../../src/events/dead-letters/trigger-letters.ts';
import { createDatabaseHandled, type HandledStore } from '../../src/events/idempotence/handled-store.ts';
import { createIdempotence } from '../../src/events/idempotence/idempotence.ts';
import type { ProcessorOutcome } from '../../src/events/processors/processor.ts';
import { type Clock, monotonicClock } from '../../src/events/strategies/clock.ts';
import { createKeyedMutex } from '../../src/lib/keyed-mutex.ts';
import { setUpTrigger } from '../support/events/event-trigger.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { type KillPointQueue, TRIGGER, type WaitingEvents } from './kill-point-queues.ts';

/** A trigger whose process ends before or after each single thing that it does, and what the next process makes of that. */

const storage = { type: 'local', bytes: 1_000_000, whenFull: 'block' } as const;
const runtime = {
  retry: { max: 1, delayMs: 0, growth: 'linear' },
  concurrency: { name: '', scope: 'local', max: 1 },
} as const;

/** What an event is for: one is taken, one is refused for good, and one is taken at the second attempt. */
const outcomes: Readonly<Record<string, readonly ProcessorOutcome[]>> = {
  taken: [{ kind: 'done' }],
  refused: [{ kind: 'failed', reason: 'status 400', status: 400 }],
  later: [{ kind: 'retry', reason: 'status 503', status: 503, afterMs: 0 }, { kind: 'done' }],
};

interface Life {
  /** Before or after what the process ended; null while it lives. */
  endedAt: string | null;
  /** Names of the steps so far, each twice: before and after it. */
  readonly points: string[];
  /** The ids of the dead letters at its end. */
  letters: readonly (string | undefined)[];
}

/**
 * Runs the trigger until it has nothing left to do, or its process ends at a point.
 * @param waiting the events, and the database of the gateway
 * @param attempts what came of the attempts of each event so far
 */
async function live(waiting: WaitingEvents, attempts: Map<string, string[]>, endAt: number): Promise<Life> {
  const life: Life = { endedAt: null, points: [], letters: [] };
  const ended = Promise.withResolvers<void>();
  const point = async (name: string) => {
    if (life.endedAt === null && life.points.length === endAt) {
      life.endedAt = name;
      ended.resolve();
    }
    life.points.push(name);
    if (life.endedAt !== null) await new Promise(() => {});
  };
  /** The same, with a point before and one after. */
  const step =
    <Args extends unknown[], Result>(name: string, work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await point(`before ${name}`);
      const result = await work(...args);
      await point(`after ${name}`);
      return result;
    };
  const { clock, stopClock } = stoppableClock();
  const database = openEventDatabase(waiting.file);
  const opened = await waiting.open(database);
  const plain = opened.channel;
  const channel: Channel = {
    ...plain,
    receive: step('receive', plain.receive),
    ack: step('ack', plain.ack),
    retry: step('retry', plain.retry),
  };
  const handled = createDatabaseHandled(database, Date.now);
  const store: HandledStore = { find: step('find', handled.find), mark: step('mark', handled.mark) };
  const deadLetters = createDeadLetters({ open: () => database, objects: null, now: Date.now });
  const letters = createTriggerLetters({
    trigger: TRIGGER,
    strategy: { afterRetries: 1, store: { kind: 'storage', storage } },
    store: deadLetters,
    channel: null,
  });
  const { consumer } = setUpTrigger({
    channel,
    runtime,
    trigger: { idempotent: true },
    subscription: { sharesDatabase: waiting.sharesDatabase },
    letters: { ...letters, keep: step('keep', letters.keep) },
    context: {
      idempotence: createIdempotence({
        claims: createKeyedMutex(),
        trigger: TRIGGER,
        retry: runtime.retry,
        store,
      }),
      clock,
    },
    process: step('process', async ({ attributes: { id } }) => {
      const before = attempts.get(id) ?? [];
      const failures = before.filter((kind) => kind === 'retry').length;
      const outcome = outcomes[id]?.[Math.min(failures, 1)] ?? outcomes[id]?.[0];
      assert.ok(outcome);
      attempts.set(id, [...before, outcome.kind]);
      return outcome;
    }),
  });
  await consumer.start();
  const lettersNow = async () =>
    (await deadLetters.list({ limit: 9 })).letters.map(({ event }) => event?.attributes.id);
  const idle = async () => {
    const { held, waiting: left } = await plain.depth(TRIGGER);
    if (held + (left ?? 0) > 0) return false;
    const isTaken = (id: string) => attempts.get(id)?.includes('done') === true;
    if (!isTaken('taken') || !isTaken('later') || (await lettersNow()).length === 0) return false;
    // A queue may not have given again yet what the process before had in hand.
    return (await opened.unsettled()) === 0;
  };
  await Promise.race([
    ended.promise,
    waitFor('all events', async () => life.endedAt !== null || (await idle())),
  ]);
  if (life.endedAt === null) {
    await consumer.stop();
    await opened.close();
  } else {
    stopClock();
    await opened.kill();
  }
  life.letters = await lettersNow();
  await database.close();
  return life;
}

/** A clock of one process: one that ended does nothing later. */
function stoppableClock(): { clock: Clock; stopClock(): void } {
  const cancels = new Set<() => void>();
  let stopped = false;
  return {
    clock: {
      now: monotonicClock.now,
      after(ms, run) {
        if (stopped) return () => {};
        const cancel = monotonicClock.after(ms, () => {
          cancels.delete(cancel);
          run();
        });
        cancels.add(cancel);
        return cancel;
      },
    },
    stopClock() {
      stopped = true;
      for (const cancel of cancels) cancel();
    },
  };
}

export interface KillPointsReport {
  /** Points at which the process was ended. */
  readonly points: number;
  /** Where an event was handed over twice, because the process ended before anybody remembered it. */
  readonly repeatedAt: readonly string[];
}

/**
 * Ends the process at each point, and lets another one go on.
 * @param queue where the events are
 * @param selected whether to try a point: `before ack`
 * @throws AssertionError for an event that was lost, and for a dead letter that is missing or comes twice
 */
export async function runKillPoints(
  folder: string,
  queue: KillPointQueue,
  selected: (point: string) => boolean,
): Promise<KillPointsReport> {
  const fill = (name: string) => queue.fill(folder, name, Object.keys(outcomes));
  const untouched = await fill('whole');
  const whole = await live(untouched, new Map(), Number.POSITIVE_INFINITY);
  await untouched.end();
  const report = { points: 0, repeatedAt: [] as string[] };
  const tryPoint = async (endAt: number) => {
    const waiting = await fill(String(endAt));
    const attempts = new Map<string, string[]>();
    const { endedAt } = await live(waiting, attempts, endAt);
    // The last points are waits for events that never come.
    if (endedAt === null) return waiting.end();
    report.points += 1;
    const { letters } = await live(waiting, attempts, Number.POSITIVE_INFINITY);
    await waiting.end();
    const told = `${endedAt} (${endAt}): ${JSON.stringify([...attempts])}`;
    assert.deepEqual(letters, ['refused'], told);
    for (const id of ['taken', 'later']) {
      const times = attempts.get(id)?.filter((kind) => kind === 'done').length ?? 0;
      assert.ok(times === 1 || times === 2, told);
      if (times === 2) report.repeatedAt.push(endedAt);
    }
  };
  const chosen = [...whole.points.entries()].filter(([, name]) => selected(name)).map(([endAt]) => endAt);
  while (chosen.length > 0) await Promise.all(chosen.splice(0, queue.atOnce).map(tryPoint));
  return report;
}
