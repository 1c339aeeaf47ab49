import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { testEvent } from '../../../../test/support/events/channel-contract.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { openEventDatabase } from '../../database/event-database.ts';
import type { BackgroundTasks } from '../background-tasks.ts';
import type { BrokerMessage } from './broker.ts';
import { createCrashCounts } from './crash-counts.ts';
import { createInbox } from './inbox.ts';

const background: BackgroundTasks = { run: (_, work) => work(), problems: () => [] };

const message = (position: string, unsettledBefore: boolean | null): BrokerMessage => ({
  content: { ok: true, event: testEvent(position) },
  position,
  redelivered: true,
  unsettledBefore,
  ack: async () => {},
  giveBack: async () => {},
});

/** One process after the other with the same database. */
function lives(t: TestContext) {
  const file = join(temporaryFolder(t), 'events.db');
  return async <T>(work: (life: Life) => Promise<T>): Promise<T> => {
    const database = openEventDatabase(file);
    const inbox = createInbox(() => 0);
    const counts = createCrashCounts({ database, topic: 't', background, now: Date.now });
    try {
      return await work({ inbox, counts });
    } finally {
      await database.close();
    }
  };
}

interface Life {
  readonly inbox: ReturnType<typeof createInbox>;
  readonly counts: ReturnType<typeof createCrashCounts>;
}

async function begin({ counts, inbox }: Life, ...messages: readonly BrokerMessage[]) {
  for (const one of messages) inbox.add(one);
  const received = inbox.receive(99, 1_000);
  const entries = received.map(({ entry }) => entry);
  return { entries, crashes: await counts.begin('x', entries) };
}

describe('the crash count of messages from a broker', () => {
  it('counts from the second delivery on, across processes that ended', async (t) => {
    const live = lives(t);
    assert.deepEqual(await live(async (life) => (await begin(life, message('1', false))).crashes), [0]);
    for (const expected of [1, 2, 3]) {
      const both = [message('1', true), message('2', false)];
      assert.deepEqual(await live(async (life) => (await begin(life, ...both)).crashes), [expected, 0]);
    }
  });

  it('counts from the first delivery on if the broker reports no redeliveries', async (t) => {
    const live = lives(t);
    for (const expected of [0, 1, 2])
      assert.deepEqual(await live(async (life) => (await begin(life, message('1', null))).crashes), [
        expected,
      ]);
  });

  it('is dropped when the message is settled, and kept when it is released', async (t) => {
    const live = lives(t);
    await live((life) => begin(life, message('1', true), message('2', true)));
    await live(async (life) => {
      const { crashes, entries } = await begin(life, message('1', true), message('2', true));
      assert.deepEqual(crashes, [2, 2]);
      const [done, back] = entries;
      assert.ok(done && back);
      await life.counts.forget('x', done);
      await life.counts.release('x', back);
    });
    const { crashes } = await live((life) => begin(life, message('1', true), message('2', true)));
    assert.deepEqual(crashes, [1, 2]);
  });

  it('does not rise for messages that only waited when the connection was lost', async (t) => {
    await lives(t)(async (life) => {
      life.inbox.add(message('1', false));
      life.inbox.disconnected();
      const { crashes } = await begin(life, message('1', true));
      assert.deepEqual(crashes, [0]);
    });
  });
});

describe('an inbox', () => {
  it('keeps the order of released messages and of expired leases', () => {
    const clock = { now: 0 };
    const inbox = createInbox(() => clock.now);
    for (const position of ['1', '2', '3', '4', '5']) inbox.add(message(position, false));
    const positions = (limit: number) => {
      const received = inbox.receive(limit, 1_000);
      return received.map(({ entry, id }) => ({ id, position: entry.message.position }));
    };
    const first = positions(3);
    for (const { id } of [...first].reverse()) inbox.release(id);
    assert.deepEqual(
      positions(5).map(({ position }) => position),
      ['1', '2', '3', '4', '5'],
    );
    clock.now = 1_000;
    assert.deepEqual(
      positions(5).map(({ position }) => position),
      ['1', '2', '3', '4', '5'],
    );
  });

  it('keeps the order of messages that are released one after the other', () => {
    const inbox = createInbox(() => 0);
    for (const position of ['1', '2', '3']) inbox.add(message(position, false));
    for (const { id } of inbox.receive(3, 1_000)) inbox.release(id);
    assert.deepEqual(
      inbox.receive(3, 1_000).map(({ entry }) => entry.message.position),
      ['1', '2', '3'],
    );
  });
});
