import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  numberedEvent,
  setUpTrigger,
  type TriggerSetup,
} from '../../../../test/support/events/event-trigger.ts';
import { waitFor } from '../../../../test/support/gateway/gateway.ts';
import { createFakeClock } from '../../../../test/support/machine/fake-clock.ts';
import { createKeyedMutex } from '../../../lib/keyed-mutex.ts';
import type { Channel, Delivery } from '../../channels/channel.ts';
import { createMemoryChannel } from '../../channels/memory/memory-channel.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Retry } from '../../config/config.ts';
import type { LetterFacts } from '../../dead-letters/letter-calls.ts';
import type { LetterOutcome, TriggerLetters } from '../../dead-letters/trigger-letters.ts';
import type { HandledKey } from '../../idempotence/handled-calls.ts';
import type { HandledStore } from '../../idempotence/handled-store.ts';
import { createIdempotence } from '../../idempotence/idempotence.ts';
import type { ProcessorOutcome } from '../../processors/processor.ts';

const retry = (outcome: Partial<ProcessorOutcome> = {}): ProcessorOutcome =>
  ({ kind: 'retry', reason: 'status 503', status: 503, afterMs: 0, ...outcome }) as ProcessorOutcome;
const done: ProcessorOutcome = { kind: 'done' };
const quick: Retry = { max: 3, delayMs: 0, growth: 'linear' };
const channelDeadLetters = (afterRetries: number) => ({
  afterRetries,
  store: {
    kind: 'storage' as const,
    storage: { type: 'memory' as const, bytes: 1_000, whenFull: 'block' as const },
  },
});

interface Letter {
  readonly event: CloudEvent;
  readonly facts: LetterFacts;
}

/** Dead letters in an array, of which `answer` says whether there is room. */
function letterBox(answer: () => LetterOutcome = () => 'kept') {
  const letters: Letter[] = [];
  const listeners = new Set<() => void>();
  const box: TriggerLetters = {
    async keep(event, facts) {
      const outcome = answer();
      if (outcome === 'kept') letters.push({ event, facts });
      return outcome;
    },
    has: async () => false,
    replays: createMemoryChannel({ now: () => 0 }),
    onRoom(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { letters, box, listeners };
}

/** A channel that has these deliveries, and notes what is acknowledged. */
function deliveries(...all: readonly Delivery[]) {
  const waiting = [...all];
  const acknowledged: string[] = [];
  const channel: Channel = {
    ...createMemoryChannel({ now: () => performance.now() }),
    receive: async (_consumer, limit) => waiting.splice(0, limit),
    ack: async (_consumer, id) => void acknowledged.push(id),
  };
  return { channel, acknowledged };
}

interface Setup extends Omit<TriggerSetup, 'process' | 'letters'> {
  /** What the processor answers, one after the other; the last again and again. */
  outcomes: readonly ProcessorOutcome[];
  letters?: TriggerLetters;
}

/** A trigger that notes what it sees. */
function setUp({ outcomes, ...setup }: Setup) {
  const seen: string[] = [];
  const made = setUpTrigger({
    ...setup,
    process({ attributes }) {
      seen.push(attributes.id);
      return outcomes[seen.length - 1] ?? outcomes.at(-1) ?? done;
    },
  });
  const { channel, consumer, context } = made;
  const settled = () =>
    waitFor('all events', async () => {
      const { held, waiting } = await channel.depth('trigger');
      return held === 0 && waiting === 0;
    });
  /** Publishes events, and waits until the trigger is done with them. */
  const handle = async (...events: readonly CloudEvent[]) => {
    await consumer.start();
    for (const event of events) await channel.publish(event);
    await settled();
    await consumer.stop();
  };
  return { ...made, counters: context.activity.counters, seen, settled, handle };
}

describe('a consumer', () => {
  it('delivers each event to its processor once if that accepts it', async () => {
    const { counters, handle, seen } = setUp({ outcomes: [done] });
    await handle(numberedEvent('1'), numberedEvent('2'));
    assert.deepEqual(seen, ['1', '2']);
    assert.equal(counters.delivered, 2);
  });

  it('settles events that no router selects for it', async () => {
    const { counters, handle, seen } = setUp({
      outcomes: [done],
      subscription: { wants: ({ attributes }) => attributes.id === '2' },
    });
    await handle(numberedEvent('1'), numberedEvent('2'));
    assert.deepEqual(seen, ['2']);
    assert.equal(counters.filtered, 1);
  });

  const endings: readonly [
    what: string,
    setup: Omit<Setup, 'letters'>,
    attempts: number,
    reason: string | null,
  ][] = [
    ['succeeds at the second attempt', { outcomes: [retry(), done], runtime: { retry: quick } }, 2, null],
    [
      'is a dead letter after its retries',
      { outcomes: [retry()], runtime: { retry: quick } },
      4,
      'exhausted',
    ],
    ['is a dead letter without retries', { outcomes: [retry()] }, 1, 'exhausted'],
    [
      'is a dead letter at the threshold',
      { outcomes: [retry()], runtime: { retry: quick }, trigger: { deadLetters: channelDeadLetters(1) } },
      2,
      'exhausted',
    ],
    [
      'is a dead letter at once when no retry helps',
      { outcomes: [{ kind: 'failed', reason: 'status 400', status: 400 }], runtime: { retry: quick } },
      1,
      'nonretryable',
    ],
  ];
  for (const [what, setup, attempts, reason] of endings)
    it(`treats an event that ${what} correctly`, async () => {
      const { box, letters } = letterBox();
      const { handle, seen } = setUp({
        trigger: { deadLetters: channelDeadLetters(99) },
        ...setup,
        letters: box,
      });
      await handle(numberedEvent('1'));
      assert.equal(seen.length, attempts);
      const [letter, ...more] = letters;
      assert.equal(more.length, 0);
      assert.equal(letter?.facts.reason ?? null, reason);
      if (letter === undefined) return;
      assert.deepEqual(letter.event, numberedEvent('1'));
      assert.deepEqual(
        [letter.facts.attempts, letter.facts.trigger, letter.facts.channel],
        [attempts, 'trigger', 'main'],
      );
      assert.deepEqual(
        letter.facts.failures.map(({ attempt }) => attempt),
        Array.from({ length: attempts }, (_, index) => index + 1),
      );
    });

  it('recognizes a dead letter by its message, in any process', async () => {
    const kept: string[] = [];
    const { box } = letterBox();
    const letters: TriggerLetters = {
      ...box,
      async keep(_event, _facts, message) {
        kept.push(message);
        return 'kept';
      },
      has: async (_channel, message) => kept.includes(message),
    };
    const refused: ProcessorOutcome = { kind: 'failed', reason: 'status 400', status: 400 };
    const delivery = (id: string, message: string, event: string, crashes: number): Delivery => ({
      id,
      message,
      content: { ok: true, event: numberedEvent(event) },
      attempt: 1,
      crashes,
      failures: [],
    });
    const run = async (...all: Delivery[]) => {
      const seen: string[] = [];
      const { acknowledged, channel } = deliveries(...all);
      const { consumer } = setUpTrigger({
        channel,
        letters,
        process({ attributes }) {
          seen.push(attributes.id);
          return refused;
        },
      });
      await consumer.start();
      await waitFor('the end', () => acknowledged.length === all.length);
      await consumer.stop();
      return seen;
    };
    assert.deepEqual(await run(delivery('1', 'a', 'refused', 0)), ['refused']);
    // Handles begin anew in the next process.
    assert.deepEqual(await run(delivery('1', 'b', 'other', 1), delivery('2', 'a', 'refused', 1)), ['other']);
  });

  it('discards what fails for the last time, where dead letters are not kept', async () => {
    const dropped: string[] = [];
    const drops = { add: (where: string) => void dropped.push(where) };
    const { counters, handle, seen } = setUp({ outcomes: [retry()], context: { drops } });
    await handle(numberedEvent('1'));
    assert.deepEqual([seen.length, counters.discarded, counters.deadLettered], [1, 1, 0]);
    assert.deepEqual(dropped, ['trigger']);
    // What the engine itself tells of is no reason to tell of more.
    const another = setUp({ outcomes: [retry()], context: { drops } });
    await another.handle(numberedEvent('2', { type: 'io.modelgate.event.dropped.v1' }));
    assert.deepEqual([another.counters.discarded, dropped], [1, ['trigger']]);
  });

  it('makes a dead letter of what expired, without an attempt', async () => {
    const { box, letters } = letterBox();
    const { handle, seen } = setUp({ outcomes: [done], letters: box });
    await handle(
      numberedEvent('old', { expirytime: '2020-01-01T00:00:00Z' }),
      numberedEvent('new', { expirytime: '2999-01-01T00:00:00Z' }),
    );
    assert.deepEqual(seen, ['new']);
    assert.deepEqual(
      letters.map(({ facts }) => [facts.reason, facts.attempts]),
      [['expired', 0]],
    );
  });

  it('makes a dead letter of bytes that are no event, as they came', async () => {
    const { box, letters } = letterBox();
    const channel = messages([{ content: { ok: false, bytes: Buffer.from('{'), problem: 'no event' } }]);
    const { handle, seen } = setUp({ outcomes: [done], letters: box, channel });
    await handle();
    assert.deepEqual(seen, []);
    assert.deepEqual(
      letters.map(({ event, facts }) => [facts.reason, event.data]),
      [['poison', Buffer.from('{')]],
    );
  });

  it('makes a dead letter of an event that crashed the process five times, without another attempt', async () => {
    const { box, letters } = letterBox();
    const channel = messages([{ crashes: 4 }, { crashes: 5, attempt: 3 }]);
    const { handle, seen } = setUp({ outcomes: [done], letters: box, channel });
    await handle();
    assert.deepEqual(seen, ['0']);
    assert.deepEqual(
      letters.map(({ facts }) => [facts.reason, facts.attempts]),
      [['crashloop', 7]],
    );
  });

  it('handles an event alone after it was in flight in two crashes, so that others are not blamed', async () => {
    const channel = messages([
      { crashes: 0 },
      { crashes: 2 },
      { crashes: 0 },
      { crashes: 4 },
      { crashes: 1 },
    ]);
    const heldBeside: number[] = [];
    const seen: string[] = [];
    const { consumer } = setUpTrigger({
      channel,
      trigger: { processor: { kind: 'gateway', name: 'handler' } },
      async process({ attributes }) {
        seen.push(attributes.id);
        const { held } = await channel.depth('trigger');
        if (attributes.id === '1' || attributes.id === '3') heldBeside.push(held);
        return done;
      },
    });
    await consumer.start();
    await waitFor('all events', () => seen.length === 5);
    await consumer.stop();
    assert.deepEqual(heldBeside, [1, 1]);
  });

  it('pauses when its receiver is gone, and keeps the events', async () => {
    const { channel, consumer, context, seen } = setUp({
      outcomes: [{ kind: 'gone', reason: 'status 410' }],
    });
    await consumer.start();
    await channel.publish(numberedEvent('1'));
    await waitFor('the pause', () => context.activity.paused()?.reason === 'gone');
    await channel.publish(numberedEvent('2'));
    await consumer.stop();
    assert.deepEqual(seen, ['1']);
    const kept = await channel.receive('trigger', 9, 1_000);
    assert.deepEqual(
      kept.map(({ attempt, crashes }) => [attempt, crashes]),
      [
        [1, 0],
        [1, 0],
      ],
    );
  });

  it('pauses while there is no room for a dead letter, and loses nothing', async () => {
    let room = false;
    const { box, letters, listeners } = letterBox(() => (room ? 'kept' : 'full'));
    const { channel, consumer, context, seen, settled } = setUp({
      outcomes: [{ kind: 'failed', reason: 'status 400', status: 400 }, done],
      letters: box,
      runtime: { concurrency: { name: '', scope: 'local', max: 1 } },
    });
    await consumer.start();
    for (const id of ['1', '2']) await channel.publish(numberedEvent(id));
    await waitFor('the pause', () => context.activity.paused()?.reason === 'dead-letters-full');
    assert.deepEqual(seen, ['1']);
    room = true;
    for (const listener of listeners) listener();
    await settled();
    await consumer.stop();
    assert.deepEqual(seen, ['1', '2']);
    assert.equal(letters.length, 1);
    assert.equal(context.activity.paused(), null);
  });

  it('drops a dead letter where its strategy says so, and counts it', async () => {
    const { box } = letterBox(() => 'dropped');
    const { counters, handle } = setUp({ outcomes: [retry()], letters: box });
    await handle(numberedEvent('1'));
    assert.deepEqual([counters.discarded, counters.deadLettered], [1, 0]);
  });

  it('holds no more events than its buffer, and renews their leases for as long as they wait', async () => {
    const clock = createFakeClock();
    const memory = createMemoryChannel({ now: clock.now });
    const { consumer } = setUp({
      outcomes: [done],
      channel: memory,
      trigger: { bufferSize: 20 },
      runtime: { rateLimit: { name: '', scope: 'local', threshold: 0, periodMs: 1_000 } },
      context: { clock },
    });
    for (let index = 0; index < 50; index += 1) await memory.publish(numberedEvent(String(index)));
    await consumer.start();
    await waitFor('a full buffer', () => consumer.status().buffered + consumer.status().inFlight === 20);
    assert.equal(consumer.status().inFlight, 16);
    for (let passed = 0; passed < 300; passed += 1) {
      clock.pass(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const free = await memory.receive('trigger', 99, 1_000);
    assert.deepEqual(
      free.map(({ id }) => Number(id)),
      Array.from({ length: 30 }, (_, index) => index + 21),
    );
    await consumer.stop();
  });

  it('hands events over one after the other, in their order, where its concurrency limit is 1', async () => {
    let under = 0;
    const seen: string[] = [];
    const { channel, consumer } = setUpTrigger({
      runtime: { concurrency: { name: '', scope: 'local', max: 1 } },
      async process({ attributes }) {
        under += 1;
        assert.equal(under, 1);
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(attributes.id);
        under -= 1;
        return done;
      },
    });
    const ids = Array.from({ length: 200 }, (_, index) => String(index));
    for (const id of ids) await channel.publish(numberedEvent(id));
    await consumer.start();
    await waitFor('all events', () => seen.length === 200);
    await consumer.stop();
    assert.deepEqual(seen, ids);
  });

  it('counts no attempt for what its limits refuse', async () => {
    const { box, letters } = letterBox();
    const { context, handle, seen } = setUp({
      outcomes: [done],
      letters: box,
      runtime: { retry: quick, rateLimit: { name: '', scope: 'local', threshold: 1, periodMs: 20 } },
    });
    await handle(...['1', '2', '3', '4', '5'].map((id) => numberedEvent(id)));
    assert.equal(seen.length, 5);
    assert.equal(letters.length, 0);
    assert.equal(context.activity.counters.retried, 0);
  });

  it('finishes events in the processor when it stops, and releases the rest as if never received', async () => {
    const release = Promise.withResolvers<void>();
    const { channel, consumer } = setUpTrigger({
      async process() {
        await release.promise;
        return done;
      },
    });
    for (let index = 0; index < 30; index += 1) await channel.publish(numberedEvent(String(index)));
    await consumer.start();
    await waitFor('events in flight', () => consumer.status().inFlight === 16);
    const stopped = consumer.stop();
    release.resolve();
    await stopped;
    assert.deepEqual(await channel.depth('trigger'), { waiting: 14, held: 0 });
    const rest = await channel.receive('trigger', 99, 1_000);
    assert.ok(rest.every(({ attempt, crashes }) => attempt === 1 && crashes === 0));
  });

  it('requests nothing from its channel while its buffer is full', async () => {
    const plain = createMemoryChannel({ now: () => 0 });
    let asked = 0;
    const count = <Args extends unknown[], Result>(work: (...args: Args) => Result) => {
      return (...args: Args): Result => {
        asked += 1;
        return work(...args);
      };
    };
    const channel: Channel = {
      ...plain,
      receive: count(plain.receive),
      nextDueIn: count(plain.nextDueIn),
    };
    const release = Promise.withResolvers<void>();
    const { consumer } = setUpTrigger({
      channel,
      process: async () => {
        await release.promise;
        return done;
      },
    });
    await consumer.start();
    const publish = async (events: number) => {
      for (let id = 0; id < events; id += 1) await plain.publish(numberedEvent(String(id)));
    };
    await publish(200);
    await waitFor(
      'most of them in hand',
      () => consumer.status().buffered + consumer.status().inFlight > 128,
    );
    const before = asked;
    await publish(500);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(asked, before);
    const stopped = consumer.stop();
    release.resolve();
    await stopped;
  });

  it('gives up an attempt that hangs, and goes on', async () => {
    const clock = createFakeClock();
    let attempts = 0;
    const { channel, consumer, context } = setUpTrigger({
      context: { clock },
      runtime: { retry: quick },
      process() {
        attempts += 1;
        return attempts === 1 ? new Promise(() => {}) : done;
      },
    });
    await channel.publish(numberedEvent('1'));
    await consumer.start();
    await waitFor('the attempt', () => attempts === 1);
    clock.pass(30_000);
    await waitFor('another', () => context.activity.counters.delivered === 1);
    await consumer.stop();
    assert.match(context.activity.lastError?.message ?? '', /within 30 seconds/);
  });

  it('hands over nothing whose lease ended while the process was paused', async () => {
    const still = createFakeClock();
    let paused = 0;
    const clock = { ...still, now: () => still.now() + paused };
    const memory = createMemoryChannel({ now: () => 0 });
    const released: string[] = [];
    const first = Promise.withResolvers<ProcessorOutcome>();
    const handled: string[] = [];
    const { channel, consumer } = setUpTrigger({
      context: { clock },
      runtime: { concurrency: { name: '', scope: 'local', max: 1 } },
      trigger: { bufferSize: 2 },
      channel: {
        ...memory,
        async release(name, id) {
          released.push(id);
          await memory.release(name, id);
        },
      },
      process({ attributes: { id } }) {
        handled.push(id);
        return id === '1' ? first.promise : done;
      },
    });
    await consumer.start();
    for (const id of ['0', '1', '2']) await channel.publish(numberedEvent(id));
    await waitFor('the second event in the buffer', () => consumer.status().buffered === 1);
    paused = 30_000;
    first.resolve(done);
    await waitFor('the event that came again', () => handled.includes('2'));
    await consumer.stop();
    assert.deepEqual([handled, released.length], [['0', '1', '2'], 1]);
  });

  it('remembers what was handled while it stops, however long that takes, and does not let it be handled again', async () => {
    const shared = sharedStore();
    const { channel, consumer, seen } = setUpIdempotent(shared);
    let failures = 2;
    shared.store.mark = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('no connection');
    };
    await consumer.start();
    await channel.publish(numberedEvent('1'));
    await waitFor('the first failure', () => failures < 2);
    await consumer.stop();
    assert.deepEqual(await channel.depth('trigger'), { waiting: 0, held: 0 });
    assert.deepEqual([seen, failures, shared.released], [['1'], -1, []]);
  });

  it('keeps the claim on what was handled when the engine closes before it is remembered', async () => {
    const clock = createFakeClock();
    const closed = new AbortController();
    const shared = sharedStore();
    const { channel, consumer } = setUpIdempotent(shared, { clock, closed: closed.signal });
    let failures = 0;
    shared.store.mark = async () => {
      failures += 1;
      throw new Error('no connection');
    };
    await consumer.start();
    await channel.publish(numberedEvent('1'));
    await waitFor('the first failure', () => failures === 1);
    const stopped = consumer.stop();
    await clock.advance(29_000);
    await stopped;
    const before = failures;
    closed.abort();
    await clock.advance(10_000);
    assert.ok(before > 20 && failures <= before + 1, `${before} ${failures}`);
    assert.deepEqual(shared.released, []);
  });

  it('hands over no event whose claim another gateway may have, and claims it again', async () => {
    const shared = sharedStore();
    const { channel, consumer, seen } = setUpIdempotent(shared);
    const held = [false, true];
    shared.store.hasClaim = () => held.shift() ?? true;
    await consumer.start();
    await channel.publish(numberedEvent('1'));
    await waitFor('the event', () => seen.length === 1);
    await consumer.stop();
    assert.deepEqual([seen, shared.released], [['1'], ['1']]);
  });

  for (const [max, others] of [
    [1, []],
    [4, ['1', '2', '3', '4', '5', '6', '7', '8']],
  ] as const)
    it(`${others.length > 0 ? 'goes on' : 'waits'} while another gateway handles an event, with a concurrency of ${max}`, async () => {
      const shared = sharedStore();
      const busy = new Set(['0', 'a', 'b', 'c', 'd']);
      shared.store.claim = async ({ id }) => (busy.has(id) ? 'busy' : 'claimed');
      const concurrency = { name: '', scope: 'local', max } as const;
      const { channel, consumer, seen } = setUpIdempotent(shared, {}, { concurrency });
      const ids = max === 1 ? ['0', '1'] : [...busy, ...others];
      for (const id of ids) await channel.publish(numberedEvent(id));
      await consumer.start();
      await waitFor('the wait', () => shared.asked.length > 1 || seen.length === others.length);
      if (others.length > 0) await waitFor('the others', () => seen.length === others.length);
      assert.deepEqual(seen, [...others]);
      busy.clear();
      await waitFor('all', () => seen.length === ids.length);
      await consumer.stop();
    });

  it('treats a processor that throws as failed, and releases its limits', async () => {
    const { box, letters } = letterBox();
    const { handle } = setUp({
      outcomes: [done],
      letters: box,
      runtime: { concurrency: { name: '', scope: 'local', max: 1 } },
      context: {
        processor: {
          process() {
            throw new Error('broken');
          },
          close: async () => {},
        },
      },
    });
    await handle(numberedEvent('1'), numberedEvent('2'));
    assert.deepEqual(
      letters.map(({ facts }) => [facts.reason, facts.error]),
      [
        ['exhausted', 'broken'],
        ['exhausted', 'broken'],
      ],
    );
  });

  it('settles an event again if the channel did not accept that', async () => {
    const memory = createMemoryChannel({ now: () => performance.now() });
    let failures = 1;
    const { handle, seen } = setUp({
      outcomes: [done],
      channel: {
        ...memory,
        async ack(name, id) {
          failures -= 1;
          if (failures >= 0) throw new Error('no connection');
          await memory.ack(name, id);
        },
      },
    });
    await handle(numberedEvent('1'));
    assert.deepEqual(seen, ['1']);
  });
});

/** What gateways remember together, without another gateway; its methods can be replaced. */
function sharedStore() {
  const released: string[] = [];
  const asked: string[] = [];
  const store: HandledStore = {
    find: async () => null,
    mark: async () => {},
    claim: async () => 'claimed',
    hasClaim: () => true,
    release: async ({ id }) => void released.push(id),
  };
  return { asked, released, store };
}

/** An idempotent trigger that notes what it handles. */
function setUpIdempotent(
  { asked, store }: ReturnType<typeof sharedStore>,
  context: Partial<TriggerSetup['context']> = {},
  runtime: TriggerSetup['runtime'] = {},
) {
  const claim = async (key: HandledKey, replayed: boolean) => {
    asked.push(key.id);
    return (await store.claim?.(key, replayed)) ?? 'claimed';
  };
  const claims = createKeyedMutex();
  const idempotence = createIdempotence({
    claims,
    trigger: 'trigger',
    retry: null,
    store: {
      ...store,
      claim,
      mark: (...all) => store.mark(...all),
      hasClaim: (key) => store.hasClaim?.(key) ?? true,
    },
  });
  const seen: string[] = [];
  const made = setUpTrigger({
    runtime,
    context: { idempotence, ...context },
    process({ attributes }) {
      seen.push(attributes.id);
      return done;
    },
  });
  return { ...made, seen };
}

/** A channel that has messages as another process left them. */
function messages(given: readonly Partial<Delivery>[]): Channel {
  const waiting = given.map(
    (message, index): Delivery => ({
      id: String(index),
      content: { ok: true, event: numberedEvent(String(index)) },
      attempt: 1,
      crashes: 0,
      failures: [],
      ...message,
    }),
  );
  const held = new Set<string>();
  const settle = (id: string) => {
    held.delete(id);
    waiting.splice(
      waiting.findIndex((one) => one.id === id),
      1,
    );
  };
  return {
    ...createMemoryChannel({ now: () => 0 }),
    async receive(_consumer, limit) {
      const next = waiting.filter(({ id }) => !held.has(id)).slice(0, limit);
      for (const { id } of next) held.add(id);
      return next;
    },
    renew: async () => {},
    ack: async (_consumer, id) => settle(id),
    release: async (_consumer, id) => void held.delete(id),
    nextDueIn: async () => (waiting.length > held.size ? 0 : null),
    depth: async () => ({ waiting: waiting.length - held.size, held: held.size }),
  };
}
