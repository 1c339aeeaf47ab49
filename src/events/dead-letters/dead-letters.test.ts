import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { numberedEvent } from '../../../test/support/events/event-trigger.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { compile } from '../cesql/cesql.ts';
import { type FailedAttempt, withFailure } from '../channels/failed-attempt.ts';
import { createMemoryChannel } from '../channels/memory/memory-channel.ts';
import type { DeadLetters as Strategy } from '../config/config.ts';
import { openEventDatabase } from '../database/event-database.ts';
import { directoryObjects } from '../spool/objects/directory-objects.ts';
import { withReason, wrapBytes } from './dead-letter.ts';
import type { LetterFacts } from './letter-calls.ts';
import { createDeadLetters, type LetterPlace } from './store.ts';
import { createTriggerLetters } from './trigger-letters.ts';

interface Cleanup {
  after(fn: () => unknown): void;
}

function openStore(t: Cleanup, file = join(temporaryFolder(t), 'events.db')) {
  const databases = new Map<'local' | 'memory', ReturnType<typeof openEventDatabase>>();
  const open = (place: 'local' | 'memory') => {
    const database = databases.get(place) ?? openEventDatabase(place === 'local' ? file : ':memory:');
    databases.set(place, database);
    return database;
  };
  const close = async () => {
    await Promise.all([...databases.values()].map((database) => database.close()));
    databases.clear();
  };
  t.after(close);
  const objects = directoryObjects(join(dirname(file), 'distributed'));
  const store = createDeadLetters({ open, objects: async () => objects, now: () => 1_000 });
  return { store, close, file };
}

const facts = (trigger = 't', change: Partial<LetterFacts> = {}): LetterFacts => ({
  trigger,
  channel: 'main',
  reason: 'exhausted',
  attempts: 3,
  status: 503,
  error: 'The receiver answered with the status 503',
  at: 1_700_000_000_000,
  failures: [
    { attempt: 1, at: 1_699_999_999_000, status: null, error: 'There was no answer' },
    { attempt: 3, at: 1_700_000_000_000, status: 503, error: 'The receiver answered with the status 503' },
  ],
  ...change,
});
const storage = (type: LetterPlace, bytes: number, whenFull: 'block' | 'drop'): Strategy => ({
  afterRetries: 1,
  store: { kind: 'storage', storage: { type, bytes, whenFull } },
});
const expression = (text: string) => {
  const compiled = compile(text);
  assert.ok(compiled.ok);
  return compiled.expression;
};

for (const place of ['local', 'memory', 'distributed'] as const)
  describe(`dead letters (${place})`, () => {
    const setUp = (t: Cleanup, bytes = 1_000_000, whenFull: 'block' | 'drop' = 'block') => {
      const opened = openStore(t);
      const lettersOf = (trigger: string) =>
        createTriggerLetters({
          trigger,
          strategy: storage(place, bytes, whenFull),
          store: opened.store,
          channel: null,
        });
      const ids = async (selection = {}) =>
        (await opened.store.list({ limit: 99, ...selection })).letters.map(
          ({ event, trigger }) => `${trigger} ${event?.attributes.id}`,
        );
      return { ...opened, lettersOf, ids };
    };

    it('are stored unchanged, with the reason of their failure', async (t) => {
      const { lettersOf, store } = setUp(t);
      assert.equal(await lettersOf('t').keep(numberedEvent('1'), facts(), 'm1'), 'kept');
      const { letters, next } = await store.list({ limit: 10 });
      assert.equal(next, null);
      const [letter] = letters;
      assert.ok(letter);
      assert.deepEqual(letter, { ...facts(), id: letter.id, event: letter.event });
      assert.deepEqual(
        [letter.event?.attributes, Buffer.from(letter.event?.data ?? '').toString()],
        [numberedEvent('1').attributes, 'data of 1'],
      );
      assert.deepEqual(await store.get(letter.id), letter);
      assert.equal(await store.get('d999'), null);
      assert.equal(await store.get('nonsense'), null);
    });

    it('are stored once for each trigger and event', async (t) => {
      const { ids, lettersOf, store } = setUp(t);
      for (const attempts of [1, 2])
        await lettersOf('t').keep(numberedEvent('1'), facts('t', { attempts }), 'm1');
      await lettersOf('u').keep(numberedEvent('1'), facts('u'), 'm1');
      assert.deepEqual(await ids(), ['t 1', 'u 1']);
      assert.equal((await store.list({ limit: 1 })).letters[0]?.attempts, 2);
      assert.deepEqual(
        (await store.counts()).map(({ count, trigger }) => [trigger, count]),
        [
          ['t', 1],
          ['u', 1],
        ],
      );
    });

    it('are found by the message that they came in', async (t) => {
      const { ids, lettersOf } = setUp(t);
      const letters = lettersOf('t');
      await letters.keep(numberedEvent('1'), facts(), 'm1');
      assert.deepEqual(await ids(), ['t 1']);
      assert.deepEqual([await letters.has('main', 'm1'), await letters.has('main', 'm2')], [true, false]);
    });

    it('come in pages, of one trigger or of all, by an expression of CESQL', async (t) => {
      const { ids, lettersOf, store } = setUp(t);
      for (let index = 0; index < 500; index += 1) {
        const trigger = index % 2 === 0 ? 'even' : 'odd';
        await lettersOf(trigger).keep(
          numberedEvent(String(index)),
          facts(trigger, { attempts: index, reason: index < 3 ? 'nonretryable' : 'exhausted' }),
          `m${index}`,
        );
      }
      const seen: string[] = [];
      let after: string | null = null;
      do {
        const page = await store.list({ trigger: 'odd', after, limit: 7 });
        seen.push(...page.letters.map(({ event }) => String(event?.attributes.id)));
        after = page.next;
      } while (after !== null);
      assert.deepEqual(
        seen,
        Array.from({ length: 250 }, (_, index) => String(2 * index + 1)),
      );
      assert.deepEqual(await ids({ filter: expression("dlreason = 'nonretryable'") }), [
        'even 0',
        'odd 1',
        'even 2',
      ]);
      assert.deepEqual(await ids({ trigger: 'even', filter: expression('dlattempts > 495') }), [
        'even 496',
        'even 498',
      ]);
      assert.equal(await store.purge({ filter: expression('dlattempts >= 10') }), 490);
      assert.equal(await store.purge({ trigger: 'odd' }), 5);
      assert.equal((await ids()).length, 5);
    });

    it('wait for room if their storage blocks, and report it', async (t) => {
      const { lettersOf, store } = setUp(t, 1_000);
      const letters = lettersOf('t');
      const keep = (id: string) =>
        letters.keep({ ...numberedEvent(id), data: Buffer.alloc(300) }, facts(), id);
      const outcomes = [await keep('1'), await keep('2')];
      assert.deepEqual(outcomes, ['kept', 'full']);
      let told = 0;
      letters.onRoom(() => (told += 1));
      const [letter] = (await store.list({ limit: 1 })).letters;
      await store.remove([letter?.id ?? '']);
      assert.equal(told, 1);
      assert.equal(await keep('2'), 'kept');
    });

    it('are dropped if their storage drops, and then take no room', async (t) => {
      const { lettersOf, store } = setUp(t, 1_000, 'drop');
      const letters = lettersOf('t');
      const outcomes: string[] = [];
      for (const id of ['1', '2', '3'])
        outcomes.push(await letters.keep({ ...numberedEvent(id), data: Buffer.alloc(300) }, facts(), id));
      assert.deepEqual(outcomes, ['kept', 'dropped', 'dropped']);
      await store.purge({});
      assert.deepEqual(await store.counts(), []);
    });

    it('go back to their trigger as first attempts, and stay when they hold no event', async (t) => {
      const { ids, lettersOf, store } = setUp(t);
      const letters = lettersOf('t');
      await letters.replays.subscribe('t');
      await letters.keep(numberedEvent('1'), facts(), 'm1');
      await letters.keep(numberedEvent('2'), facts(), 'm2');
      await letters.keep(wrapBytes('main', 'm3', Buffer.from('{')), facts('t', { reason: 'poison' }), 'm3');
      const [first] = (await store.list({ limit: 1 })).letters;
      assert.equal(await store.replay([first?.id ?? '', 'd999']), 1);
      assert.equal(await store.replayAll({}), 1);
      assert.equal((await ids()).length, 1);
      const replayed = await letters.replays.receive('t', 9, 1_000);
      assert.deepEqual(
        replayed.map(({ attempt, content }) => [attempt, content.ok && content.event.attributes]),
        [
          [1, numberedEvent('1').attributes],
          [1, numberedEvent('2').attributes],
        ],
      );
    });
  });

describe('dead letters', () => {
  it('are there after a restart', async (t) => {
    const { close, file, store } = openStore(t);
    const letters = createTriggerLetters({
      trigger: 't',
      strategy: storage('local', 1_000, 'block'),
      store,
      channel: null,
    });
    await letters.keep(numberedEvent('1'), facts(), 'm1');
    await close();
    assert.equal((await openStore(t, file).store.list({ limit: 9 })).letters.length, 1);
  });

  it('of an earlier version have no list of failures, and keep their attempt count', async (t) => {
    const file = join(temporaryFolder(t), 'events.db');
    const first = openStore(t, file);
    const old = {
      trigger: 't',
      strategy: storage('local', 1_000, 'block'),
      store: first.store,
      channel: null,
    };
    await createTriggerLetters(old).keep(numberedEvent('1'), facts('t', { failures: [] }), 'm1');
    await first.close();
    const before = new DatabaseSync(file);
    before.exec('alter table deliveries drop column failures; alter table dead_letters drop column failures');
    before.exec('pragma user_version = 1');
    before.close();
    const { store } = openStore(t, file);
    const [letter] = (await store.list({ limit: 9 })).letters;
    assert.deepEqual([letter?.error, letter?.failures], [facts().error, []]);
    await store.remove([letter?.id ?? '']);
    assert.deepEqual(await store.counts(), []);
  });

  it('name as many failures in the event as all queues have room for, the first and the latest', () => {
    const failures = Array.from({ length: 40 }, (_, index) => index + 1).reduce<readonly FailedAttempt[]>(
      (before, attempt) => withFailure(before, { attempt, at: attempt, status: 503, error: 'x'.repeat(999) }),
      [],
    );
    assert.deepEqual(
      [failures.length, failures[0]?.attempt, failures[1]?.attempt, failures.at(-1)?.attempt],
      [16, 1, 26, 40],
    );
    const { dlfailures } = withReason(numberedEvent('1'), facts('t', { failures })).attributes;
    assert.ok(String(dlfailures).length <= 2_048);
    const named = JSON.parse(String(dlfailures)).map(({ attempt }: FailedAttempt) => attempt);
    assert.deepEqual([named[0], named.at(-1)], [1, 40]);
  });

  it('are published to the channel that the strategy names, once, and kept beside it', async (t) => {
    const { store } = openStore(t);
    const channel = createMemoryChannel({ now: () => 0 });
    await channel.subscribe('reader');
    const strategy: Strategy = {
      afterRetries: 1,
      store: { kind: 'channel', channel: { id: 'c', scheme: 'sqlite', url: 'sqlite:', topic: 'dead' } },
    };
    const letters = createTriggerLetters({ trigger: 't', strategy, store, channel });
    for (let time = 0; time < 2; time += 1) await letters.keep(numberedEvent('1'), facts(), 'm1');
    const published = await channel.receive('reader', 9, 1_000);
    assert.equal(published.length, 1);
    const content = published[0]?.content;
    assert.ok(content?.ok);
    const { attributes } = content.event;
    assert.deepEqual(
      ['dlreason', 'dltrigger', 'dlchannel', 'dlattempts', 'dlstatus', 'dlerror', 'dltime'].map(
        (name) => attributes[name],
      ),
      ['exhausted', 't', 'main', 3, 503, facts().error, '2023-11-14T22:13:20.000Z'],
    );
    assert.deepEqual(
      JSON.parse(String(attributes['dlfailures'])).map((one: Record<string, unknown>) => [
        one['attempt'],
        one['time'],
        one['status'],
      ]),
      [
        [1, '2023-11-14T22:13:19.000Z', null],
        [3, '2023-11-14T22:13:20.000Z', 503],
      ],
    );
    assert.equal((await store.list({ limit: 9 })).letters.length, 1);
  });

  it('wait when their channel does not take them', async (t) => {
    const { store } = openStore(t);
    const channel = createMemoryChannel({ now: () => 0, maxBytes: 10 });
    const strategy: Strategy = {
      afterRetries: 1,
      store: { kind: 'channel', channel: { id: 'c', scheme: 'sqlite', url: 'sqlite:', topic: 'dead' } },
    };
    const letters = createTriggerLetters({ trigger: 't', strategy, store, channel });
    await assert.rejects(letters.keep(numberedEvent('1'), facts(), 'm1'));
  });

  it('name the message of bytes that are not an event', () => {
    const bytes = Buffer.from([0xff, 0]);
    const event = wrapBytes('main', 'm1', bytes);
    assert.deepEqual(event.data, bytes);
    assert.equal(event.attributes.id, wrapBytes('main', 'm1', bytes).attributes.id);
    for (const other of [wrapBytes('main', 'm2', bytes), wrapBytes('other', 'm1', bytes)])
      assert.notEqual(event.attributes.id, other.attributes.id);
  });
});
