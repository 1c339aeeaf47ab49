import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Value } from '../store/database.ts';
import { type Journal, type JournalDisk, openJournal } from './journal.ts';
import { ledgerColumns } from './record.ts';
import { queueJournals, removeJournals } from './recovery.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelgate-journal-'));
  folders.push(folder);
  return join(folder, 'journal');
}

const row = (id: string): string =>
  JSON.stringify(ledgerColumns.map((column) => (column === 'id' ? id : null)));

interface Opened {
  journal: Journal;
  folder: string;
  errors: string[];
  /** Lets the database have what was recorded. */
  written: { now: PromiseWithResolvers<void> };
}

function open(
  options: { folder?: string; maxBytes?: number; steady?(): number; disk?: JournalDisk } = {},
): Opened {
  const { folder = newFolder(), ...more } = options;
  const errors: string[] = [];
  const written = { now: Promise.withResolvers<void>() };
  const journal = openJournal({
    ...more,
    folder,
    name: 'one',
    columns: ledgerColumns,
    whenWritten: () => written.now.promise,
    onError: (error) => errors.push(error.message),
  });
  return { journal, folder, errors, written };
}

interface SlowDisk extends Opened {
  /** `msOfAWrite`: what a write takes for which somebody waits. */
  clock: { now: number; msOfAWrite: number };
  /** Has the oldest write in the background carried out, or fail; resolves once the journal knows. */
  writeLater(fault?: Error): Promise<void>;
  /** How many of them have begun and not ended. */
  underWay(): number;
}

/** A journal on a disk whose writes take as long as one says. */
function slowDisk(): SlowDisk {
  const clock = { now: 0, msOfAWrite: 0 };
  const writes: ((fault: Error | undefined) => void)[] = [];
  const disk: JournalDisk = {
    writeNow(descriptor, text) {
      clock.now += clock.msOfAWrite;
      return writeSync(descriptor, text);
    },
    writeLater: (descriptor, text) =>
      new Promise((resolve, reject) => {
        writes.push((fault) => (fault === undefined ? resolve(writeSync(descriptor, text)) : reject(fault)));
      }),
  };
  const opened = open({ steady: () => clock.now, disk });
  return {
    ...opened,
    clock,
    async writeLater(fault) {
      writes.shift()?.(fault);
      await new Promise(setImmediate);
    },
    underWay: () => writes.length,
  };
}

/** The ids of the rows that a next run finds. */
async function found(folder: string, isWanted = (_name: string) => true): Promise<string[]> {
  const ids: string[] = [];
  const push = (_table: string, columns: readonly string[], values: readonly Value[]) =>
    void ids.push(String(values[columns.indexOf('id')]));
  await queueJournals(folder, { push, whenWritten: async () => true }, isWanted);
  return ids.sort();
}

describe('a journal', () => {
  it('has a row on the disk as soon as it was appended', async () => {
    const { folder, journal } = open();
    journal.append(row('a'));
    journal.append(row('b'));
    assert.deepEqual(await found(folder), ['a', 'b']);
    await journal.close();
  });

  it('forgets rows that the database has, and no others', async () => {
    const { folder, journal, written } = open();
    journal.append(row('a'));
    const rotated = journal.rotate();
    journal.append(row('b'));
    assert.deepEqual(await found(folder), ['a', 'b']);
    written.now.resolve();
    await rotated;
    assert.deepEqual(await found(folder), ['b']);
    journal.append(row('c'));
    assert.deepEqual(await found(folder), ['b', 'c']);
    await journal.rotate();
    assert.deepEqual(await found(folder), []);
    journal.append(row('d'));
    assert.deepEqual(await found(folder), ['d']);
    await journal.close();
  });

  it('keeps the rows that the database did not take', async () => {
    const { folder, journal, written } = open();
    journal.append(row('a'));
    const rotated = assert.rejects(journal.rotate(), /gone/);
    written.now.reject(new Error('gone'));
    await rotated;
    written.now = Promise.withResolvers();
    journal.append(row('b'));
    written.now.resolve();
    await journal.rotate();
    await journal.rotate();
    assert.deepEqual(await found(folder), []);
    await journal.close();
  });

  it('begins a line anew after one that a full disk has cut', async () => {
    const { folder, journal } = open();
    journal.append(row('a'));
    const path = join(folder, 'one.0');
    truncateSync(path, statSync(path).size - 4);
    await journal.close();
    const again = open({ folder });
    again.journal.append(row('b'));
    await again.journal.close();
    assert.deepEqual(await found(folder), ['b']);
  });

  it('accepts no more than its limit for a while, and reports that once', async () => {
    let clock = 0;
    const { errors, folder, journal } = open({ maxBytes: 100, steady: () => clock });
    for (const id of ['a', 'b', 'c']) journal.append(row(id));
    assert.deepEqual(await found(folder), ['a']);
    assert.deepEqual(errors, ['too many rows wait for the database']);
    clock += 60_000;
    journal.append(row('d'));
    assert.equal(errors.length, 2);
    await journal.close();
  });

  it('says of each row whether it is on the disk', async () => {
    const { journal } = open({ maxBytes: 100, steady: () => 0 });
    assert.deepEqual(
      [journal.append(row('a')), journal.append(row('b')), journal.append(row('c'))],
      [true, false, false],
    );
    await journal.close();
  });

  it('does not write rows after a pause that the database already has', async () => {
    let clock = 0;
    const { folder, journal, written } = open({ maxBytes: 100, steady: () => clock });
    journal.append(row('a'));
    journal.append(row('b'));
    const first = journal.rotate();
    written.now.resolve();
    await first;
    journal.append(row('c'));
    clock += 5_000;
    journal.append(row('d'));
    assert.deepEqual(await found(folder), ['c', 'd']);
    await journal.close();
  });

  it('lets nobody wait for a slow disk again for ten times as long as it took', async () => {
    const { clock, errors, folder, journal, writeLater } = slowDisk();
    journal.append(row('a'));
    clock.msOfAWrite = 80;
    journal.append(row('b'));
    clock.now += 790;
    assert.equal(journal.append(row('c')), false);
    assert.equal(clock.now, 870, 'it was not waited for');
    assert.deepEqual(errors, ['the disk took 80 ms for a row']);
    await writeLater();
    clock.msOfAWrite = 0;
    clock.now += 20;
    assert.equal(journal.append(row('d')), true);
    assert.deepEqual(await found(folder), ['a', 'b', 'c', 'd']);
    clock.msOfAWrite = 3_000;
    journal.append(row('e'));
    clock.msOfAWrite = 0;
    clock.now += 4_990;
    assert.equal(journal.append(row('f')), false);
    await writeLater();
    clock.now += 20;
    assert.equal(journal.append(row('g')), true);
    assert.deepEqual(await found(folder), ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    await journal.close();
  });

  it('writes the rows of a pause as soon as the disk accepts them, one write after the other', async () => {
    const { clock, folder, journal, underWay, writeLater } = slowDisk();
    clock.msOfAWrite = 80;
    journal.append(row('a'));
    for (const id of ['b', 'c', 'd']) journal.append(row(id));
    assert.equal(underWay(), 1);
    await writeLater();
    assert.deepEqual(await found(folder), ['a', 'b']);
    assert.equal(underWay(), 1, 'what came meanwhile goes together');
    await writeLater();
    assert.deepEqual(await found(folder), ['a', 'b', 'c', 'd']);
    assert.equal(underWay(), 0);
    await journal.close();
  });

  it('lets nobody wait while rows of a pause are being written, even after the pause', async () => {
    const { clock, folder, journal, writeLater } = slowDisk();
    clock.msOfAWrite = 80;
    journal.append(row('a'));
    journal.append(row('b'));
    clock.now += 60_000;
    assert.equal(journal.append(row('c')), false);
    await writeLater();
    assert.equal(journal.append(row('d')), true);
    assert.deepEqual(await found(folder), ['a', 'b', 'c', 'd']);
    await journal.close();
  });

  it('keeps rows that could not be written after a pause, and pauses again', async () => {
    const { clock, errors, folder, journal, underWay, writeLater } = slowDisk();
    clock.msOfAWrite = 80;
    journal.append(row('a'));
    clock.msOfAWrite = 0;
    journal.append(row('b'));
    await writeLater(new Error('the disk is gone'));
    assert.deepEqual(errors, ['the disk took 80 ms for a row', 'the disk is gone']);
    journal.append(row('c'));
    assert.equal(underWay(), 0);
    clock.now += 5_000;
    assert.equal(journal.append(row('d')), true);
    assert.deepEqual(await found(folder), ['a', 'b', 'c', 'd']);
    await journal.close();
  });

  it('forgets rows of a pause only once they are written', async () => {
    const { clock, folder, journal, writeLater, written } = slowDisk();
    clock.msOfAWrite = 80;
    journal.append(row('a'));
    journal.append(row('b'));
    const rotated = journal.rotate();
    journal.append(row('c'));
    written.now.resolve();
    await new Promise(setImmediate);
    assert.deepEqual(await found(folder), ['a'], 'a write to the file is under way');
    await writeLater();
    await writeLater();
    clock.now += 1_000;
    await rotated;
    assert.deepEqual(await found(folder), ['c']);
    await journal.close();
  });

  it('can be read by its user alone', async () => {
    const { folder, journal } = open();
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const file of readdirSync(folder)) assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600);
    await journal.close();
  });
});

describe('the recovery of journals', () => {
  it('reads the selected files', async () => {
    const { folder, journal } = open();
    journal.append(row('a'));
    assert.deepEqual(await found(folder, (name) => name !== 'one'), []);
    assert.deepEqual(await found(folder, (name) => name === 'one'), ['a']);
    await journal.close();
  });

  it('reads by the names of the columns, and passes over lines that are no rows', async () => {
    const { folder, journal } = open();
    await journal.close();
    const lines = [
      '["status","id","unheard_of"]',
      '[200,"a",1]',
      '[200,"b"]',
      '{"id":"c"}',
      'x',
      '[[],"d",1]',
    ];
    writeFileSync(join(folder, 'old.0'), `${lines.join('\n')}\n[200,"e",2`);
    const rows: unknown[] = [];
    const writer = { push: (...pushed: unknown[]) => void rows.push(pushed), whenWritten: async () => true };
    await queueJournals(folder, writer, (name) => name === 'old');
    assert.deepEqual(rows, [['requests', ['status', 'id'], [200, 'a']]]);
    assert.match(
      readFileSync(join(folder, 'old.0'), 'utf8'),
      /unheard_of/,
      'its rows may not be written yet',
    );
  });

  it('queues no more at a time than the writer holds, so that no row evicts another', async () => {
    const { folder, journal } = open();
    await journal.close();
    const count = 45_000;
    const lines = Array.from({ length: count }, (_, index) => `["r${index}"]`);
    writeFileSync(join(folder, 'old.0'), `["id"]\n${lines.join('\n')}\n`);
    let [waiting, most, all] = [0, 0, 0];
    const writer = {
      push() {
        waiting += 1;
        all += 1;
        most = Math.max(most, waiting);
      },
      async whenWritten() {
        waiting = 0;
        return true;
      },
    };
    const files = await queueJournals(folder, writer, (name) => name === 'old');
    assert.deepEqual([files.map(({ path }) => path), all], [[join(folder, 'old.0')], count]);
    assert.ok(most <= 20_000, `${most} rows at a time`);
  });

  it('keeps a file that has rows whose columns it cannot read, and one whose reading was ended', async () => {
    const { folder, journal } = open();
    await journal.close();
    writeFileSync(join(folder, 'cut.0'), '["id","sta\n["a",1]\n');
    writeFileSync(join(folder, 'old.0'), '["id"]\n["a"]\n');
    const writer = { push() {}, whenWritten: async () => true };
    assert.deepEqual(await queueJournals(folder, writer, (name) => name === 'cut'), []);
    assert.deepEqual(await queueJournals(folder, writer, (name) => name === 'old', AbortSignal.abort()), []);
  });

  it('removes files whose rows were read, but for one that has got more since', async () => {
    const { folder, journal } = open();
    await journal.close();
    const [quiet, grown] = [join(folder, 'old.0'), join(folder, 'old.1')];
    for (const file of [quiet, grown]) writeFileSync(file, '["id"]\n["a"]\n');
    const writer = { push() {}, whenWritten: async () => true };
    const files = await queueJournals(folder, writer, (name) => name === 'old');
    appendFileSync(grown, '["b"]\n');
    assert.equal(removeJournals(files), false);
    assert.deepEqual([existsSync(quiet), existsSync(grown)], [false, true]);
    assert.equal(removeJournals(await queueJournals(folder, writer, (name) => name === 'old')), true);
    assert.equal(existsSync(grown), false);
  });

  it('finds nothing where there is no folder', async () => {
    assert.deepEqual(await found(join(newFolder(), 'missing')), []);
  });
});
