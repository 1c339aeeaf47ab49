import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { RawClient } from '../../support/clients/client.ts';
import { connectionsTo, formats } from '../../support/formats/formats.ts';
import {
  bearer,
  type LedgerLine,
  type RunningGateway,
  startGateway,
  waitFor,
} from '../../support/gateway/gateway.ts';
import { chunk, end, hang, json, open } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

/** What a client saw: the request's id, when it sent it and when its answer was complete. */
interface Acknowledged {
  id: string;
  begunAt: number;
  endedAt: number;
}

let upstream: Upstream;
let gateway: RunningGateway;

before(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ connections: connectionsTo(upstream.url) });
});
after(async () => {
  await gateway?.stop();
  await upstream?.close();
});

/** Sends requests on one kept connection, one after the other, until the gateway is gone. */
async function worker(index: number, seen: Acknowledged[]): Promise<void> {
  const client = await gateway.client();
  try {
    for (let turn = index; ; turn += 1) {
      const format = formats[turn % formats.length] ?? formats[0];
      const begunAt = performance.now();
      const sent = await client.send({
        path: format.path,
        headers: { 'content-type': 'application/json', ...bearer(gateway.key) },
        body: JSON.stringify(format.request({ stream: turn % 2 === 0 })),
      });
      if (!sent) return;
      const reply = await client.reply().catch(() => null);
      if (reply === null || reply.end === 'cut') return;
      assert.equal(reply.status, 200, reply.text);
      seen.push({ id: reply.header('x-request-id') ?? '', begunAt, endedAt: performance.now() });
    }
  } finally {
    client.destroy();
  }
}

/** Answers in the format of the path, streamed when asked. */
function answerAll(): void {
  upstream.always(async (turn) => {
    const request = JSON.parse((await turn.request.whole).toString()) as { stream?: boolean };
    const format = formats.find(({ path }) => path === turn.request.path) ?? formats[0];
    if (request.stream !== true) {
      await json(200, format.answer())(turn);
      return;
    }
    await open()(turn);
    await chunk(format.stream().text)(turn);
    await end()(turn);
  });
}

const count = (rows: readonly LedgerLine[]): Map<string, number> => {
  const counted = new Map<string, number>();
  for (const { id } of rows) counted.set(id, (counted.get(id) ?? 0) + 1);
  return counted;
};

/** Answers that are not recorded although one is whose request came after they were complete. */
function lostBeforeKept(seen: readonly Acknowledged[], counted: ReadonlyMap<string, number>): string[] {
  const lastKept = Math.max(...seen.filter(({ id }) => counted.has(id)).map(({ begunAt }) => begunAt));
  return seen.filter(({ endedAt, id }) => !counted.has(id) && endedAt < lastKept).map(({ id }) => id);
}

interface Crash {
  seen: Acknowledged[];
  rows: LedgerLine[];
}

/** kill -9 so many milliseconds after the first answer under load, then a new start on the same folder. */
async function crash(ms: number): Promise<Crash> {
  answerAll();
  const seen: Acknowledged[] = [];
  const workers = Array.from({ length: 8 }, (_, index) => worker(index, seen));
  await waitFor('the first answer', () => seen.length > 0);
  await delay(ms);
  await gateway.kill();
  await Promise.all(workers);
  await gateway.restart();
  const rows = await gateway.entries(1_000_000);
  return { seen, rows };
}

describe('the ledger after kill -9', () => {
  for (const ms of [150, 700, 1500]) {
    it(`has every request that was answered, once (killed after ${ms} ms)`, async (test) => {
      const { rows, seen } = await crash(ms);
      const counted = count(rows);
      const lost = seen.filter(({ id }) => !counted.has(id));
      test.diagnostic(`${seen.length} answered`);
      assert.ok(seen.length > 0, 'something was answered before the kill');
      // The row is on the disk in the same turn of the event loop in which the answer ends: a process does one at a time.
      assert.ok(lost.length <= 1, `${lost.length} are lost`);
      assert.deepEqual(lostBeforeKept(seen, counted), [], 'what was answered first is recorded first');
      const doubled = [...counted].filter(([, times]) => times > 1);
      assert.deepEqual(doubled, []);
    });
  }

  it('has whole rows with the usage and the key of each request', async () => {
    const rows = await gateway.entries(1_000_000);
    for (const row of rows) {
      assert.equal(row.outcome, 'ok', JSON.stringify(row));
      assert.equal(row.status, 200);
      assert.equal(row.model, 'm-1');
      assert.deepEqual(
        { input: row.usage?.['input'], output: row.usage?.['output'] },
        { input: 12, output: 5 },
      );
      assert.notEqual(row.key_id, null);
    }
  });

  it('takes new requests, which are recorded as ever', async () => {
    answerAll();
    for (const format of formats) {
      const reply = await gateway.ask(format.path, format.request());
      assert.equal(reply.status, 200);
      const entry = await gateway.entry(reply.header('x-request-id'));
      assert.equal(entry.outcome, 'ok');
      assert.equal(entry.format, format.ledger);
    }
  });

  it('is a sound database', () => {
    const database = new DatabaseSync(join(gateway.dataDir, 'modelgate.db'), { readOnly: true });
    try {
      assert.deepEqual(
        database
          .prepare('PRAGMA integrity_check')
          .all()
          .map((row) => Object.values(row)),
        [['ok']],
      );
    } finally {
      database.close();
    }
  });
});

describe('a gateway killed with requests open', () => {
  it('cuts their answers and never ends them as if they were whole', async () => {
    const clients: RawClient[] = [];
    try {
      for (const format of formats) {
        upstream.script([open(), chunk(format.stream().preamble + format.stream().content[0]), hang()]);
        const client = await gateway.client();
        clients.push(client);
        await client.send({
          path: format.path,
          headers: { 'content-type': 'application/json', ...bearer(gateway.key) },
          body: JSON.stringify(format.request({ stream: true })),
        });
        const reply = await client.open();
        await reply.until('Hel');
        const whole = reply.whole;
        await gateway.kill();
        const { end: ending, text } = await whole;
        assert.equal(ending, 'cut');
        assert.ok(!text.includes(format.terminal));
        await gateway.restart();
        assert.equal(
          (await gateway.entries(1_000_000)).filter(({ id }) => id === reply.header('x-request-id')).length,
          0,
        );
      }
    } finally {
      for (const client of clients) client.destroy();
    }
  });

  it('starts again at once: neither its lock nor its run file is in the way', async () => {
    answerAll();
    for (let round = 0; round < 3; round += 1) {
      await gateway.kill();
      await gateway.restart();
      assert.equal((await gateway.ask(formats[0].path, formats[0].request())).status, 200);
    }
  });
});

describe('a change made by the command line', () => {
  it('outlives a kill -9 right after its command said so', async () => {
    const added = await gateway.cliJson('keys', 'add', 'survivor');
    const removed = await gateway.cliJson('keys', 'add', 'gone');
    await gateway.cliJson('keys', 'remove', 'gone', '--yes');
    await gateway.kill();
    await gateway.restart();
    answerAll();
    const [format] = formats;
    const ask = (key: unknown) => gateway.ask(format.path, format.request(), bearer(String(key)));
    assert.equal((await ask(added['key'])).status, 200);
    assert.equal((await ask(removed['key'])).status, 401);
  });
});
