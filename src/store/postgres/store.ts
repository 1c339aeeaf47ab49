import type { Sql } from 'postgres';
import type { Patience, PostgresStore, StoreOnServerOptions } from '../database.ts';
import { migrations as released } from '../migrations/index.ts';
import { nodeName } from '../node-name.ts';
import type { Tables } from '../tables.ts';
import { postgresAddress } from './address.ts';
import { withDeadline } from './deadline.ts';
import { kyselyOverPostgres } from './driver.ts';
import { isOutage, reasonOf, reported } from './failure.ts';
import { type Batch, createInserter } from './insert.ts';
import { migratePostgres, pendingMigrations } from './migrate.ts';
import { openOutbox } from './outbox.ts';
import { ledgerMonths } from './partitions.ts';
import { connect, openPool } from './pool.ts';
import { whenReachable } from './reach.ts';
import { openRevisionFeed } from './revision-feed.ts';
import { inSnapshot } from './snapshot.ts';
import { openTransactions } from './transactions.ts';

const STATEMENT_MS = 60_000;
/** What reads much is given time, and few connections. */
const READING_MS = 600_000;
const READERS = 2;
/** How many of the connections are for transactions, of which one is carried out at a time among all gateways. */
const WRITING_SHARE = 1 / 4;
/** Longer than the server lets a statement run, it is not waited for. */
const GRACE_MS = 5_000;
const INSERT_MS = 15_000;
/** A server that takes longer for its first answers is taken for one that is away. */
const FIRST_ANSWERS_MS = 15_000;
/** What the server may take to close a connection. */
const CLOSE_S = 1;

const once: Patience = { forMs: 0, onWait() {} };

/**
 * Opens the database that an address names and brings its schema up to date.
 * @throws GatewayError for a server that does not answer or is too old, and for a database of another program
 */
export async function openPostgresStore(
  url: string,
  {
    create = true,
    dataDir,
    follow = true,
    migrations = released,
    now = Date.now,
    onOutage = () => {},
    patience = once,
  }: StoreOnServerOptions,
): Promise<PostgresStore> {
  const address = postgresAddress(url);
  const { place, prepare } = address;
  let outage: { since: number; message: string } | null = null;
  let onBack = (): void => {};
  const onLookEnd = (error: unknown) => {
    if (error !== null && !isOutage(error)) return;
    const before = outage;
    outage =
      error === null
        ? null
        : { since: before?.since ?? now(), message: `${place} does not answer: ${reasonOf(error)}` };
    if ((before === null) === (outage === null)) return;
    if (outage !== null) for (const pool of [main, readers, transactions]) pool.renew();
    onOutage(outage);
    if (outage === null) onBack();
  };
  const writers = Math.max(1, Math.floor(address.pool * WRITING_SHARE));
  const main = openPool(address, { max: address.pool - writers, statementMs: STATEMENT_MS });
  const single = () => connect(address, { max: 1, statementMs: STATEMENT_MS });
  const transactions = openTransactions(single, writers);
  const readers = openPool(address, { max: READERS, statementMs: READING_MS, readOnly: true });
  /** Does something on a connection of its own. */
  const alone = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    const sql = single();
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: CLOSE_S });
    }
  };
  try {
    const migrationNames = Object.keys(migrations);
    // A driver that waits for the end of a connection that was never made waits for ever.
    const ask = () =>
      alone((sql) =>
        withDeadline(pendingMigrations(sql, migrationNames, { create, place }), FIRST_ANSWERS_MS),
      );
    const pending = await whenReachable(ask, patience);
    // May take long: the server limits each statement.
    if (pending.length > 0)
      await alone((sql) => migratePostgres({ sql, place, now: now(), create, migrations }));
    const feed = await openRevisionFeed({ address, sql: main.sql, follow, onLookEnd });
    const onChange = async () => {
      await feed.refresh().catch(onLookEnd);
    };
    const inserter = createInserter(main.sql);
    const outbox = dataDir === undefined || !follow ? null : openOutbox(dataDir);
    let sending: Promise<void> | null = null;
    const send = async () => {
      for (let next = outbox?.first() ?? null; next !== null; next = outbox?.first() ?? null) {
        // What comes twice, after a crash, is written once.
        await withDeadline(
          inserter.insert(next.batch, () => {}),
          INSERT_MS,
        );
        outbox?.remove(next.id);
      }
    };
    onBack = () => {
      sending ??= send()
        .catch(onLookEnd)
        .finally(() => {
          sending = null;
        });
    };
    onBack();
    /** False when there is no room for it, or nothing to keep it in. */
    const kept = (batch: Batch): boolean => outbox?.put(batch) ?? false;
    const own = { place, prepare, onChange, onEnd: onLookEnd, beginTransaction: transactions.begin };
    return {
      kind: 'postgres',
      node: dataDir === undefined ? 'node' : nodeName(dataDir),
      db: kyselyOverPostgres<Tables>({ ...own, sql: main.sql, deadlineMs: STATEMENT_MS + GRACE_MS }),
      reading: kyselyOverPostgres<Tables>({
        ...own,
        sql: readers.sql,
        deadlineMs: READING_MS + GRACE_MS,
      }),
      server: { place, outage: () => outage, waiting: () => outbox?.waiting() ?? 0 },
      inSnapshot: (work) => inSnapshot(address, work),
      months: ledgerMonths(main.sql),
      async insertMany(table, columns, rows, onRefused = () => {}) {
        const batch = { table, columns, rows };
        // In the order in which they came: a later state must not be overtaken by an earlier one.
        if ((outage !== null || (outbox?.waiting() ?? 0) > 0) && kept(batch)) return true;
        try {
          await withDeadline(inserter.insert(batch, onRefused), INSERT_MS);
          onLookEnd(null);
          return true;
        } catch (error) {
          onLookEnd(error);
          if (isOutage(error) && kept(batch)) return true;
          throw reported(error, place);
        }
      },
      revision: feed.current,
      latestRevision: feed.refresh,
      async close() {
        await feed.close();
        await sending;
        await Promise.all([readers.end(5), main.end(5), transactions.end(5)]);
        outbox?.close();
      },
    };
  } catch (error) {
    await Promise.all([main.end(0), readers.end(0), transactions.end(0)]);
    throw reported(error, place);
  }
}
