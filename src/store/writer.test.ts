import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { runScript } from '../../test/support/machine/process.ts';
import { databasePath, openStore, type Store, type Value } from './database.ts';
import { createWriter, type Writer } from './writer.ts';

const columns = ['name', 'value'] as const;
const here = import.meta.dirname;

/** A store that keeps rows in memory and does what `answer` says for each batch. */
function fakeStore(answer: (batch: readonly (readonly Value[])[]) => boolean = () => true) {
  const batches: string[][] = [];
  const store: Pick<Store, 'insertMany'> = {
    insertMany(_table, _columns, rows) {
      if (!answer(rows)) return false;
      batches.push(rows.map(([name]) => String(name)));
      return true;
    },
  };
  return { store, batches, names: () => batches.flat() };
}

const pushAll = (writer: Writer, names: readonly string[]) => {
  for (const name of names) writer.push('settings', columns, [name, 'x']);
};
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

describe('the writer', () => {
  it('writes rows that came together as one batch, in order', async () => {
    const { store, batches } = fakeStore();
    const writer = createWriter(store);
    pushAll(writer, ['a', 'b', 'c']);
    assert.deepEqual([batches, writer.pending()], [[], 3]);
    await until(() => writer.pending() === 0);
    assert.deepEqual(batches, [['a', 'b', 'c']]);
    await writer.stop();
  });

  it('reports dropped rows to their caller, after the others are written', async () => {
    const insertion = Promise.withResolvers<boolean>();
    const batches: number[] = [];
    const store: Pick<Store, 'insertMany'> = {
      insertMany(_table, _columns, rows) {
        batches.push(rows.length);
        return batches.length === 1 ? insertion.promise : true;
      },
    };
    const writer = createWriter(store, { maxPending: 10, flushMs: 0 });
    pushAll(writer, numbered(5));
    await until(() => batches.length === 1);
    const results: [string, boolean][] = [];
    const first = writer.whenWritten().then((whole) => results.push(['first', whole]));
    pushAll(writer, numbered(3));
    const second = writer.whenWritten().then((whole) => results.push(['second', whole]));
    pushAll(writer, numbered(9));
    await delay(20);
    assert.deepEqual(results, [], 'nothing is written yet');
    insertion.resolve(true);
    await Promise.all([first, second]);
    assert.deepEqual(results, [
      ['first', true],
      ['second', false],
    ]);
    await writer.stop();
  });

  it('writes dependencies of its rows before them', async () => {
    const { store, names } = fakeStore();
    const details = createWriter(store, { flushMs: 3_600_000 });
    const writer = createWriter(store, { beforeBatch: details.flush });
    pushAll(writer, ['row without details']);
    pushAll(details, ['details']);
    pushAll(writer, ['row']);
    await until(() => writer.pending() === 0);
    assert.deepEqual(names(), ['details', 'row without details', 'row']);
    await Promise.all([writer.stop(), details.stop()]);
  });

  it('splits many rows into batches and lets other work run between them', async () => {
    let turn = 0;
    const turns = new Set<number>();
    const { store, batches, names } = fakeStore(() => {
      turns.add(turn);
      return true;
    });
    const writer = createWriter(store, { maxRows: 10, flushMs: 1 });
    const rows = numbered(95);
    pushAll(writer, rows);
    let counting = true;
    const count = () => {
      turn += 1;
      if (counting) setImmediate(count);
    };
    count();
    await until(() => writer.pending() === 0);
    counting = false;
    assert.deepEqual(
      batches.map(({ length }) => length),
      [10, 10, 10, 10, 10, 10, 10, 10, 10, 5],
    );
    assert.deepEqual(names(), rows);
    assert.ok(turns.size > 1, 'the event loop went on meanwhile');
    await writer.stop();
  });

  it('keeps the order and every row while the database is busy or fails', async () => {
    let calls = 0;
    const errors: unknown[] = [];
    const { store, names } = fakeStore(() => {
      calls += 1;
      if (calls === 2) throw new Error('disk full');
      return calls > 4;
    });
    const writer = createWriter(store, { flushMs: 1, maxRows: 7, onError: (error) => errors.push(error) });
    const rows = numbered(40);
    pushAll(writer, rows.slice(0, 20));
    assert.equal(writer.flush(), false);
    pushAll(writer, rows.slice(20));
    await until(() => writer.pending() === 0);
    assert.deepEqual(names(), rows);
    assert.deepEqual(errors.map(String), ['Error: disk full']);
    await writer.stop();
  });

  it('drops the oldest rows beyond its limit and says how many', async () => {
    const lost: number[] = [];
    let busy = true;
    const { store, names } = fakeStore(() => !busy);
    const writer = createWriter(store, { maxPending: 3, onError: (_, dropped) => lost.push(dropped) });
    pushAll(writer, ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual([writer.pending(), lost], [3, [1]], 'reported at once, and not for each row');
    busy = false;
    await writer.stop();
    assert.deepEqual(names(), ['c', 'd', 'e']);
  });

  it('writes everything when it stops, and nothing afterwards', async () => {
    const { store, names } = fakeStore();
    const lost: number[] = [];
    const writer = createWriter(store, { flushMs: 3_600_000, onError: (_, dropped) => lost.push(dropped) });
    pushAll(writer, ['a', 'b']);
    await writer.stop();
    assert.deepEqual(names(), ['a', 'b']);
    pushAll(writer, ['late']);
    assert.deepEqual([names(), writer.pending(), lost], [['a', 'b'], 0, [1]]);
  });

  it('reports when it stops how many rows it could not write', async () => {
    const { store } = fakeStore(() => {
      throw new Error('disk full');
    });
    const writer = createWriter(store, { stopMs: 1 });
    pushAll(writer, ['a', 'b']);
    await assert.rejects(writer.stop(), /2 ledger entries could not be written: Error: disk full/);
  });
});

describe('the writer on a database', () => {
  it('loses one bad row and no other', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const reports: [unknown, number][] = [];
    const writer = createWriter(store, { onError: (...report) => reports.push(report) });
    pushAll(writer, ['a', 'b']);
    writer.push('settings', columns, ['bad', null]);
    pushAll(writer, ['c']);
    await writer.stop();
    const rows = await store.db.selectFrom('settings').select('name').orderBy('name').execute();
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(
      reports.map(([error, dropped]) => [/NOT NULL/.test(String(error)), dropped]),
      [[true, 1]],
    );
  });

  it('waits until another process has written', async (test) => {
    const dataDir = temporaryFolder(test);
    const store = await openStore(dataDir);
    test.after(() => store.close());
    const other = runScript(
      test,
      here,
      `const { DatabaseSync } = await import('node:sqlite');
       const database = new DatabaseSync(${JSON.stringify(databasePath(dataDir))});
       database.exec('begin immediate');
       database.exec("insert into settings values ('theirs', 'x')");
       say('writing');
       await go();
       database.exec('commit');
       database.close();`,
    );
    await other.line();
    const errors: unknown[] = [];
    const writer = createWriter(store, { flushMs: 5, onError: (error) => errors.push(error) });
    pushAll(writer, ['ours']);
    await delay(50);
    assert.equal(writer.pending(), 1);
    other.go();
    await until(() => writer.pending() === 0);
    await other.ended();
    await writer.stop();
    const rows = await store.db.selectFrom('settings').select('name').orderBy('name').execute();
    assert.deepEqual([rows.map(({ name }) => name), errors], [['ours', 'theirs'], []]);
  });

  it('loses with kill -9 at most what came just before, and writes nothing twice', async (test) => {
    const dataDir = temporaryFolder(test);
    // Each row is announced with the time of its push, so that what had to be on the disk is known.
    const open = `
      const { openStore } = await import('./database.ts');
      const { createWriter } = await import('./writer.ts');
      const store = await openStore(${JSON.stringify(dataDir)});
      const writer = createWriter(store);
      const push = (name) => writer.push('settings', columns, [name, String(Date.now())]);
      const columns = ['name', 'value'];`;
    const script = runScript(
      test,
      here,
      `${open}
       let number = 0;
       setInterval(() => {
         for (let i = 0; i < 20; i += 1) {
           const name = String(number++).padStart(9, '0');
           push(name);
           say(name + ' ' + Date.now());
         }
       }, 2);`,
    );
    const announced = [await script.line()];
    await delay(700);
    const killedAt = Date.now();
    await script.kill();
    announced.push(...(await script.rest()).filter((line) => /^\d{9} \d{13}$/.test(line)));
    const store = await openStore(dataDir);
    test.after(() => store.close());
    const names = async () =>
      (await store.db.selectFrom('settings').select('name').orderBy('name').execute()).map(
        ({ name }) => name,
      );
    const kept = await names();
    const pushed = announced.map((line) => line.split(' ')[0] ?? '');
    assert.ok(kept.length > 100, `it had written ${kept.length} rows`);
    // The last push may have been written but not announced.
    assert.deepEqual(
      kept.slice(0, pushed.length),
      pushed.slice(0, kept.length),
      'a prefix: no gap, no row twice',
    );
    const due = announced.filter((line) => Number(line.split(' ')[1]) < killedAt - 1000);
    const last = Number(announced.at(kept.length - 1)?.split(' ')[1] ?? killedAt);
    assert.ok(kept.length >= due.length, `${due.length - kept.length} rows are missing that were due`);
    assert.ok(killedAt - last < 1000, `nothing was kept of the last ${killedAt - last} ms`);

    const again = runScript(
      test,
      here,
      `${open}\nfor (const name of ${JSON.stringify(pushed)}) push(name);\nawait writer.stop();\nawait store.close();`,
    );
    await again.ended();
    assert.equal(
      (await names()).length,
      new Set([...kept, ...pushed]).size,
      'written again, nothing is there twice',
    );
  });
});
