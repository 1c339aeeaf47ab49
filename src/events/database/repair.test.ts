import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createLedger, seeded } from '../../../test/endurance/ledger.ts';
import { eventIn } from '../../../test/support/events/cloud-event.ts';
import { numberedEvent } from '../../../test/support/events/event-trigger.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import type { Channel, Delivery } from '../channels/channel.ts';
import { createSqliteChannel } from '../channels/sqlite/sqlite-channel.ts';
import { createDeadLetters } from '../dead-letters/store.ts';
import { openEventDatabase } from './event-database.ts';
import { repairEventDatabase } from './repair.ts';

const EVENTS = 200;
const RUNS = 4;

const open = (path: string) => {
  const database = openEventDatabase(path);
  return { database, channel: createSqliteChannel(database, 'main', Date.now) };
};

/** A file in which two consumers have events, of which one has taken the first ten, and a dead letter. */
async function fill(path: string) {
  const { channel, database } = open(path);
  const ledger = createLedger(256);
  for (const consumer of ['reader', 'other']) await channel.subscribe(consumer);
  for (let count = 0; count < EVENTS; count += 1) {
    const event = ledger.next('s');
    await channel.publish(event);
    ledger.accepted(event);
  }
  for (const { id } of await channel.receive('other', 10, 1_000)) await channel.ack('other', id);
  const letters = createDeadLetters({ open: () => database, objects: null, now: Date.now });
  const facts = {
    reason: 'exhausted',
    attempts: 1,
    status: 503,
    error: 'no',
    at: 1,
    channel: 'main',
    failures: [],
  } as const;
  const letter = { ...facts, event: numberedEvent('letter'), trigger: 'hook', delivery: '999' } as const;
  await letters.add({ ...letter, place: 'local', maxBytes: 1_000_000, makeRoom: false });
  await database.close();
  return ledger;
}

async function receiveAll(channel: Channel, consumer: string): Promise<Delivery[]> {
  const all: Delivery[] = [];
  for (;;) {
    const some = await channel.receive(consumer, 50, 60_000);
    if (some.length === 0) return all;
    all.push(...some);
  }
}

const damages = {
  'a page of zeros': (bytes: Buffer, random: () => number) => {
    const page = Math.floor((random() * bytes.length) / 4_096) * 4_096;
    return Buffer.from(bytes).fill(0, page, page + 4_096);
  },
  'half a kilobyte of something else': (bytes: Buffer, random: () => number) => {
    const at = Math.floor((random() * bytes.length) / 512) * 512;
    return Buffer.from(bytes).fill(Math.floor(random() * 256), at, at + 512);
  },
  'its end cut off': (bytes: Buffer, random: () => number) =>
    bytes.subarray(0, Math.floor(((1 + random()) / 2) * bytes.length)),
};

describe('the repair of a damaged database of events', () => {
  it('says that nothing is wrong with one that is intact, and changes nothing', async (t) => {
    const path = join(temporaryFolder(t), 'events.db');
    await fill(path);
    const before = readFileSync(path);
    const report = repairEventDatabase(path, `${path}.damaged`);
    assert.deepEqual(report, {
      damaged: false,
      events: EVENTS,
      deadLetters: 1,
      remembered: 0,
      lost: 0,
      unreadable: [],
      movedTo: null,
    });
    assert.deepEqual(readFileSync(path), before);
    assert.throws(() => repairEventDatabase(`${path}.gone`, 'x'), /There is no file/);
  });

  for (const [what, damage] of Object.entries(damages))
    it(`keeps what can be read of one with ${what}, and invents nothing`, async (t) => {
      const folder = temporaryFolder(t);
      const whole = join(folder, 'whole.db');
      const ledger = await fill(whole);
      const bytes = readFileSync(whole);
      const random = seeded(11);
      let kept = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const path = join(folder, `${run}.db`);
        writeFileSync(path, damage(bytes, random));
        const { damaged, lost, movedTo, unreadable } = repairEventDatabase(path, `${path}.damaged`);
        const { channel, database } = open(path);
        await channel.subscribe('reader');
        const received = await receiveAll(channel, 'reader');
        const good = received.filter(({ content }) => content.ok).map(eventIn);
        const ids = new Set(good.map(({ attributes }) => attributes.id));
        assert.equal(ids.size, good.length, 'none comes twice');
        for (const event of good) ledger.delivered('reader', event);
        if (received.length < EVENTS) assert.ok(lost > 0 || unreadable.length > 0, `${run} is silent`);
        if (damaged) assert.ok(movedTo !== null && existsSync(movedTo));
        kept += good.length;
        await database.close();
      }
      const { corrupt, phantoms } = ledger.report(['reader']);
      assert.deepEqual({ corrupt, phantoms }, { corrupt: 0, phantoms: 0 });
      t.diagnostic(`${kept} of ${RUNS * EVENTS} events kept`);
      assert.ok(kept > EVENTS, `${kept} events kept`);
    });

  it('assigns no number twice', async (t) => {
    const path = join(temporaryFolder(t), 'events.db');
    await fill(path);
    const bytes = readFileSync(path);
    // The first page of the events, somewhere in the middle.
    writeFileSync(path, bytes.fill(0, 20 * 4_096, 21 * 4_096));
    assert.equal(repairEventDatabase(path, `${path}.damaged`).damaged, true);
    const { channel, database } = open(path);
    t.after(() => database.close());
    await channel.subscribe('late');
    await channel.publish(numberedEvent('next'));
    const [delivery] = await channel.receive('late', 1, 1_000);
    assert.ok(Number(delivery?.id) > 999);
  });
});
