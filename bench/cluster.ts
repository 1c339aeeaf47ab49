/**
 * What several gateways ask of the servers that they share: rows of the ledger a second into PostgreSQL, how soon a change is
 * known everywhere, how long the keys of a large installation take to read, and exchanges a second with Redis.
 *   node bench/cluster.ts [--parts ledger,notify,keys,redis] [--keys N]
 * Each part starts servers of its own.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { allKeys, keyReader } from '../src/access/keys/key-index.ts';
import { keyPages } from '../src/access/keys/key-pages.ts';
import { keyStore } from '../src/access/store.ts';
import { openRedis } from '../src/budgets/shared/redis.ts';
import { createLedger } from '../src/ledger/record.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { createWriter } from '../src/store/writer.ts';
import { startPostgres } from '../test/support/brokers/postgres.ts';
import { startRedis } from '../test/support/brokers/redis.ts';
import { madeEntry } from '../test/support/store/ledger.ts';

const flags = parseArgs({
  options: {
    parts: { type: 'string', default: 'ledger,notify,keys,redis' },
    keys: { type: 'string', default: '100000' },
    rows: { type: 'string', default: '100000' },
  },
}).values;

/** CPU seconds of all processes of a program, by the kernel's count. */
function cpuSecondsOf(folder: string): number {
  const pid = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  // Of its children that have ended, and its own; those that run are added when they end.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / 100;
}

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

const say = (part: string, figures: Readonly<Record<string, number>>) =>
  console.log(
    part,
    JSON.stringify(figures, (_, value) => (typeof value === 'number' ? Number(value.toFixed(2)) : value)),
  );

async function ledgerRows(url: string, folder: string): Promise<void> {
  const count = Number(flags.rows);
  for (const gateways of [1, 4]) {
    const stores = await Promise.all(
      Array.from({ length: gateways }, () => openPostgresStore(url, { follow: false })),
    );
    const before = cpuSecondsOf(folder);
    const own = process.cpuUsage();
    const begun = performance.now();
    await Promise.all(
      stores.map(async (store, gateway) => {
        const writer = createWriter(store, { maxPending: count });
        const ledger = createLedger(writer);
        for (let row = 0; row < count / gateways; row += 1) {
          ledger.record(madeEntry({ id: `req_${gateways}_${gateway}_${row}`, startedAt: Date.now() }));
          if (row % 5_000 === 4_999) await writer.flush();
        }
        await writer.stop();
      }),
    );
    const seconds = (performance.now() - begun) / 1_000;
    const { system, user } = process.cpuUsage(own);
    await Promise.all(stores.map((store) => store.close()));
    say('ledger', {
      gateways,
      rows: count,
      rowsPerSecond: count / seconds,
      gatewayMicrosecondsPerRow: (user + system) / count,
      serverMicrosecondsPerRow: ((cpuSecondsOf(folder) - before) * 1e6) / count,
    });
  }
}

async function notifications(url: string): Promise<void> {
  for (const gateways of [2, 10, 30]) {
    const writer = await openPostgresStore(url, { follow: false });
    const followers = await Promise.all(
      Array.from({ length: gateways }, () => openPostgresStore(`${url}?pool=2`, { follow: true })),
    );
    const [first, all]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < 30; turn += 1) {
      const begun = performance.now();
      await writer.db
        .insertInto('settings')
        .values({ name: `turn-${gateways}-${turn}`, value: 'x' })
        .execute();
      const { rows } = await sql<{ value: number }>`select value from revision`.execute(writer.db);
      const wanted = Number(rows[0]?.value);
      const heard = followers.map(async (store) => {
        while (store.revision() < wanted) await new Promise((resolve) => setImmediate(resolve));
        return performance.now() - begun;
      });
      const times = await Promise.all(heard);
      first.push(Math.min(...times));
      all.push(Math.max(...times));
    }
    say('notify', {
      gateways,
      firstP50Ms: quantile(first, 0.5),
      allP50Ms: quantile(all, 0.5),
      allP99Ms: quantile(all, 0.99),
    });
    await Promise.all([...followers, writer].map((store) => store.close()));
  }
}

async function manyKeys(url: string): Promise<void> {
  const store = await openPostgresStore(url, { follow: false });
  const count = Number(flags.keys);
  await keyStore(store).add({
    name: 'key-0',
    models: null,
    expiresAt: null,
    owner: 'person-0',
    team: 'team-0',
    labels: {},
  });
  // The others are like it, and made without the triggers that note each change: one by one they would take minutes.
  await store.db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`insert into keys select (jsonb_populate_record(k, jsonb_build_object(
      'id', 'key_' || g, 'name', 'key-' || g, 'hash', md5(g::text) || md5((g + 1)::text)))).*
      from keys k, generate_series(1, ${count - 1}::int) g where k.name = 'key-0'`.execute(trx);
  });
  const keys = keyStore(store);
  const pages = keyPages(store);
  const read = keyReader(keys, pages);
  await read();
  await timed('keys read', count, () => allKeys(pages));
  await timed('keys read after one was changed', count, async (turn) => {
    await keys.update('key_1', { disabled: turn % 2 === 0 });
    await read();
  });
  await store.close();
}

/** How long something takes in this process, of five times, and for how long the event loop stood still. */
async function timed(what: string, keys: number, work: (turn: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  let longestPause = 0;
  const own = process.cpuUsage();
  for (let turn = 0; turn < 5; turn += 1) {
    let last = performance.now();
    const watch = setInterval(() => {
      longestPause = Math.max(longestPause, performance.now() - last - 5);
      last = performance.now();
    }, 5);
    const from = performance.now();
    await work(turn);
    times.push(performance.now() - from);
    longestPause = Math.max(longestPause, performance.now() - last);
    clearInterval(watch);
  }
  const { system, user } = process.cpuUsage(own);
  say(what, {
    keys,
    p50Ms: quantile(times, 0.5),
    cpuMs: (user + system) / 1_000 / times.length,
    longestPauseMs: longestPause,
  });
}

async function exchanges(folder: string): Promise<void> {
  const server = await startRedis(folder, ['--appendfsync', 'everysec']);
  const quiet = { info() {}, warn() {} };
  const redis = await openRedis({ url: server.url, log: quiet, onChange() {} });
  const tally = 'x'.repeat(600);
  const epoch = (await redis.exchange({ epoch: null, newEpoch: 'e', renew: false, proposals: [] })).epoch;
  for (const budgets of [1, 20]) {
    const [seconds, workers] = [3, 32];
    let done = 0;
    const until = performance.now() + seconds * 1_000;
    await Promise.all(
      Array.from({ length: workers }, async (_, worker) => {
        const version: (string | null)[] = Array.from({ length: budgets }, () => null);
        for (let turn = 0; performance.now() < until; turn += 1) {
          const proposals = version.map((wasVersion, budget) => ({
            key: `${budgets}-${worker}-${budget}`,
            wasVersion,
            version: `v${turn}`,
            tally,
            ttlMs: 60_000,
          }));
          await redis.exchange({ epoch, newEpoch: 'n', renew: false, proposals });
          version.fill(`v${turn}`);
          done += 1;
        }
      }),
    );
    say('redis', {
      budgetsInOne: budgets,
      exchangesPerSecond: done / seconds,
      talliesPerSecond: (done * budgets) / seconds,
    });
  }
  await redis.close();
  await server.kill();
}

const folder = mkdtempSync(join(tmpdir(), 'modelgate-cluster-'));
chmodSync(folder, 0o711);
const parts = flags.parts.split(',');
const database = await startPostgres(join(folder, 'postgres'));
try {
  if (parts.includes('ledger')) await ledgerRows(database.url, join(folder, 'postgres'));
  if (parts.includes('notify')) await notifications(database.url);
  if (parts.includes('keys')) await manyKeys(database.url);
  if (parts.includes('redis')) await exchanges(join(folder, 'redis'));
} finally {
  await database.kill();
  rmSync(folder, { recursive: true, force: true });
}
