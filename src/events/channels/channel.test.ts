import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { describeChannel, receiveSome, testEvent } from '../../../test/support/events/channel-contract.ts';
import { guarantees } from '../../../test/support/events/channel-guarantees.ts';
import { eventIn } from '../../../test/support/events/cloud-event.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { encodeJsonEvent } from '../cloudevents/json-format.ts';
import { openEventDatabase } from '../database/event-database.ts';
import { storedEvent } from '../database/stored-event.ts';
import { ChannelFull } from './channel.ts';
import { createMemoryChannel } from './memory/memory-channel.ts';
import { createSqliteChannel } from './sqlite/sqlite-channel.ts';

describeChannel({
  name: 'memory',
  durable: guarantees.memory.survivesGateway,
  async open() {
    const clock = { now: 1_000_000 };
    const make = () => createMemoryChannel({ now: () => clock.now });
    return {
      channel: make(),
      other: make(),
      async advance(ms) {
        clock.now += ms;
      },
    };
  },
});

describeChannel({
  name: 'sqlite',
  durable: guarantees.sqlite.survivesGateway,
  async open(t) {
    const file = join(temporaryFolder(t), 'events.db');
    const clock = { now: 1_000_000 };
    const opened = { database: openEventDatabase(file) };
    t.after(() => opened.database.close());
    const channelOf = (topic: string) => createSqliteChannel(opened.database, topic, () => clock.now);
    return {
      channel: channelOf('a'),
      other: channelOf('b'),
      async advance(ms) {
        clock.now += ms;
      },
      async publishBytes(bytes) {
        await opened.database.ask('publish', { topic: 'a', event: bytes });
      },
      async restart() {
        await opened.database.close();
        opened.database = openEventDatabase(file);
        return channelOf('a');
      },
    };
  },
});

describe('a channel in memory', () => {
  it('takes no more than it may hold, and takes again when there is room', async () => {
    const big = (id: string): CloudEvent => ({ ...testEvent(id), data: Buffer.alloc(400) });
    const channel = createMemoryChannel({ now: () => 0, maxBytes: 1_000 });
    await channel.subscribe('x');
    for (const id of ['1', '2']) await channel.publish(big(id));
    await assert.rejects(channel.publish(big('3')), ChannelFull);
    const [first] = await channel.receive('x', 1, 1);
    await channel.ack('x', first?.id ?? '');
    await channel.publish(big('3'));
  });
});

describe('a database of events', () => {
  it('takes over the events of the first release', async (t) => {
    const file = join(temporaryFolder(t), 'events.db');
    const before = new DatabaseSync(file);
    before.exec(`
      create table events (seq integer primary key autoincrement, topic text not null, event blob not null);
      create table consumers (topic text not null, consumer text not null, primary key (topic, consumer)) without rowid;
      create table deliveries (
        topic text not null, consumer text not null, seq integer not null,
        due integer not null, attempts integer not null, leased integer not null,
        primary key (topic, consumer, seq)
      ) without rowid;
      insert into consumers values ('a', 'x');
    `);
    const addEvent = before.prepare('insert into events (topic, event) values (?, ?)');
    const addDelivery = before.prepare('insert into deliveries values (?, ?, ?, ?, ?, ?)');
    for (const [topic, consumer, due, attempts, leased] of [
      ['a', 'x', 5, 1, 1],
      ['a', 'x', 2_000, 2, 0],
      ['a', 'ended', 5, 0, 0],
      ['b', '', 5, 0, 0],
    ] as const) {
      const id = `${topic} ${consumer} ${attempts}`;
      const bytes = encodeJsonEvent(testEvent(id));
      addDelivery.run(topic, consumer, addEvent.run(topic, bytes).lastInsertRowid, due, attempts, leased);
    }
    before.close();

    const database = openEventDatabase(file);
    t.after(() => database.close());
    const clock = { now: 1_000 };
    const take = async (topic: string, consumer: string) => {
      const channel = createSqliteChannel(database, topic, () => clock.now);
      await channel.subscribe(consumer);
      const [delivery] = await receiveSome(channel, consumer, 1);
      assert.ok(delivery);
      await channel.ack(consumer, delivery.id);
      assert.equal((await channel.receive(consumer, 9, 1_000)).length, 0);
      return [eventIn(delivery).attributes.id, delivery.attempt];
    };
    assert.deepEqual(await take('a', 'x'), ['a x 1', 1]);
    clock.now = 2_000;
    assert.deepEqual(await take('a', 'x'), ['a x 2', 3]);
    assert.deepEqual(await take('a', 'ended'), ['a ended 0', 1]);
    assert.deepEqual(await take('b', 'whoever'), ['b  0', 1]);
  });

  it('fails one call without failing others of its batch', async (t) => {
    const database = openEventDatabase(join(temporaryFolder(t), 'events.db'));
    t.after(() => database.close());
    const good = () => database.ask('publish', { topic: 'a', event: storedEvent(testEvent('1')) });
    const bad = database.ask('publish', { topic: 'a', event: null as never });
    const [one, two, three] = await Promise.allSettled([good(), bad, good()]);
    assert.deepEqual([one.status, two.status, three.status], ['fulfilled', 'rejected', 'fulfilled']);
    const rows = await database.ask('receive', { topic: 'a', consumer: '', limit: 9, now: 1, until: 2 });
    assert.equal(rows.length, 2);
  });

  it('refuses calls after it was closed', async (t) => {
    const database = openEventDatabase(join(temporaryFolder(t), 'events.db'));
    await database.close();
    await assert.rejects(
      database.ask('publish', { topic: 'a', event: storedEvent(testEvent('1')) }),
      /is closed/,
    );
  });
});
