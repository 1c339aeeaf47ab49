import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createSqliteChannel } from '../../src/events/channels/sqlite/sqlite-channel.ts';
import { openEventDatabase } from '../../src/events/database/event-database.ts';
import { createLedger, numbered, seeded } from '../endurance/ledger.ts';
import { receiveSome } from '../support/events/channel-contract.ts';
import { eventIn } from '../support/events/cloud-event.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

/** The `sqlite:` channel on a disk that changes bytes. */

const open = (file: string) => {
  const database = openEventDatabase(file);
  return { database, channel: createSqliteChannel(database, 'main', Date.now) };
};

describe('the sqlite channel', () => {
  it('never delivers an event whose bytes were damaged, and delivers all others', async (t) => {
    const file = join(temporaryFolder(t), 'events.db');
    const random = seeded(20_128);
    const ledger = createLedger(256);
    const before = open(file);
    await before.channel.subscribe('reader');
    for (let count = 0; count < 100; count += 1) {
      const event = ledger.next('s');
      await before.channel.publish(event);
      ledger.accepted(event);
    }
    await before.database.close();

    const bytes = readFileSync(file);
    const damaged = [3, 14, 15, 65, 92].flatMap((id) => {
      const data = Buffer.from(numbered('s', id, 256).data ?? []);
      const offset = Math.floor(random() * data.length);
      const bit = 1 << Math.floor(random() * 8);
      // Pages that were split hold old copies. An event may also stand on two pages.
      const places: number[] = [];
      for (let at = bytes.indexOf(data); at !== -1; at = bytes.indexOf(data, at + 1))
        places.push(at + offset);
      for (const at of places) bytes[at] = (bytes[at] ?? 0) ^ bit;
      if (places.length === 0) return [];
      return [String(id)];
    });
    assert.ok(damaged.length > 1);
    writeFileSync(file, bytes);

    const { channel, database } = open(file);
    t.after(() => database.close());
    const deliveries = await receiveSome(channel, 'reader', 100);
    const good = deliveries.filter(({ content }) => content.ok).map(eventIn);
    for (const event of good) ledger.delivered('reader', event);
    assert.equal(deliveries.length - good.length, damaged.length);
    assert.deepEqual(
      ledger.missing('reader').map((key) => JSON.parse(key)[1]),
      damaged,
    );
    const { corrupt, phantoms } = ledger.report(['reader']);
    assert.deepEqual({ corrupt, phantoms }, { corrupt: 0, phantoms: 0 });
  });
});
