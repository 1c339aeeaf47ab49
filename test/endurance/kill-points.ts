import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Channel } from '../../src/events/channels/channel.ts';
import { createSqliteChannel } from '../../src/events/channels/sqlite/sqlite-channel.ts';
import { openEventDatabase } from '../../src/events/database/event-database.ts';
import { createDeadLetters } from '../../src/events/dead-letters/store.ts';
import { createTriggerLetters } from '../../src/events/dead-letters/trigger-letters.ts';
import { createDatabaseHandled, type HandledStore } from '../../src/events/idempotence/handled-store.ts';
import { createIdempotence } from '../../src/events/idempotence/idempotence.ts';
import type { ProcessorOutcome } from '../../src/events/processors/processor.ts';
import { monotonicClock } from '../../src/events/strategies/clock.ts';
import { numberedEvent, setUpTrigger } from '../support/event-trigger.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { waitFor } from '../support/gateway.ts';

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
 * @param attempts what came of the attempts of each event so far
 */
async function live(file: string, attempts: Map<string, string[]>, endAt: number): Promise<Life> {
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
  const database = openEventDatabase(file);
  const plain = createSqliteChannel(database, 'main', Date.now);
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
    trigger: 'trigger',
    strategy: { afterRetries: 1, store: { kind: 'storage', storage } },
    store: deadLetters,
    channel: null,
  });
  const { consumer } = setUpTrigger({
    channel,
    runtime,
    trigger: { idempotent: true },
    inlet: { sharesDatabase: true },
    letters: { ...letters, keep: step('keep', letters.keep) },
    context: {
      idempotence: createIdempotence({ trigger: 'trigger', retry: runtime.retry, store }),
      // A process that ended does nothing later.
      clock: Number.isFinite(endAt) ? createFakeClock() : monotonicClock,
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
  const idle = async () => {
    const { held, waiting } = await plain.depth('trigger');
    return held + (waiting ?? 0) === 0;
  };
  await Promise.race([
    ended.promise,
    waitFor('all events', async () => life.endedAt !== null || (await idle())),
  ]);
  if (life.endedAt === null) await consumer.stop();
  life.letters = (await deadLetters.list({ limit: 9 })).letters.map(({ event }) => event?.attributes.id);
  await database.close();
  return life;
}

export interface KillPointsReport {
  /** Points at which the process was ended. */
  readonly points: number;
  /** Where an event was handed over twice, because the process ended before anybody remembered it. */
  readonly repeatedAt: readonly string[];
}

/**
 * Ends the process at each point, and lets another one go on.
 * @param selected whether to try a point: `before ack`
 * @throws AssertionError for an event that was lost, and for a dead letter that is missing or comes twice
 */
export async function runKillPoints(
  folder: string,
  selected: (point: string) => boolean,
): Promise<KillPointsReport> {
  const fresh = join(folder, 'fresh.db');
  const database = openEventDatabase(fresh);
  const channel = createSqliteChannel(database, 'main', Date.now);
  for (const id of Object.keys(outcomes)) await channel.publish(numberedEvent(id));
  await database.close();
  const copy = (name: string) => {
    const file = join(folder, name);
    copyFileSync(fresh, file);
    return file;
  };
  const whole = await live(copy('whole.db'), new Map(), Number.POSITIVE_INFINITY);
  const repeatedAt: string[] = [];
  let points = 0;
  for (const [endAt, name] of whole.points.entries()) {
    if (!selected(name)) continue;
    const file = copy(`${endAt}.db`);
    const attempts = new Map<string, string[]>();
    const { endedAt } = await live(file, attempts, endAt);
    // The last points are waits for events that never come.
    if (endedAt === null) continue;
    points += 1;
    const { letters } = await live(file, attempts, Number.POSITIVE_INFINITY);
    const told = `${endedAt} (${endAt}): ${JSON.stringify([...attempts])}`;
    assert.deepEqual(letters, ['refused'], told);
    for (const id of ['taken', 'later']) {
      const times = attempts.get(id)?.filter((kind) => kind === 'done').length ?? 0;
      assert.ok(times === 1 || times === 2, told);
      if (times === 2) repeatedAt.push(endedAt);
    }
  }
  return { points, repeatedAt };
}
