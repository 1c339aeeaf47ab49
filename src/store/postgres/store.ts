import type { PostgresStore, StoreOnServerOptions } from '../database.ts';
import { nodeName } from '../node-name.ts';
import type { Tables } from '../tables.ts';
import { postgresAddress } from './address.ts';
import { kyselyOverPostgres } from './driver.ts';
import { isOutage, reasonOf, reported } from './failure.ts';
import { createInserter } from './insert.ts';
import { migratePostgres } from './migrate.ts';
import { openPool } from './pool.ts';
import { openRevisionFeed } from './revision-feed.ts';

const STATEMENT_MS = 60_000;
/** What reads much is given time, and few connections. */
const READING_MS = 600_000;
const READERS = 2;

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
    migrations,
    now = Date.now,
    onOutage = () => {},
  }: StoreOnServerOptions,
): Promise<PostgresStore> {
  const address = postgresAddress(url);
  const { place, prepare } = address;
  let outage: { since: number; message: string } | null = null;
  const ended = (error: unknown) => {
    if (error !== null && !isOutage(error)) return;
    const before = outage;
    outage =
      error === null
        ? null
        : { since: before?.since ?? now(), message: `${place} does not answer: ${reasonOf(error)}` };
    if ((before === null) !== (outage === null)) onOutage(outage);
  };
  const main = openPool(address, { max: address.pool, statementMs: STATEMENT_MS });
  const readers = openPool(address, { max: READERS, statementMs: READING_MS, readOnly: true });
  try {
    await migratePostgres({
      sql: main,
      place,
      now: now(),
      create,
      ...(migrations === undefined ? {} : { migrations }),
    });
    const feed = await openRevisionFeed({ address, sql: main, follow, ended });
    const changed = async () => {
      await feed.refresh().catch(ended);
    };
    const db = kyselyOverPostgres<Tables>({ sql: main, place, prepare, changed, ended });
    const inserter = createInserter(main);
    return {
      kind: 'postgres',
      node: dataDir === undefined ? 'node' : nodeName(dataDir),
      db,
      reading: kyselyOverPostgres<Tables>({ sql: readers, place, prepare, changed, ended }),
      server: { place, outage: () => outage, waiting: () => 0 },
      async insertMany(table, columns, rows, onRefused = () => {}) {
        try {
          await inserter.insert({ table, columns, rows }, onRefused);
          ended(null);
          return true;
        } catch (error) {
          ended(error);
          throw reported(error, place);
        }
      },
      revision: feed.current,
      latestRevision: feed.refresh,
      async close() {
        await feed.close();
        await Promise.all([readers.end({ timeout: 5 }), main.end({ timeout: 5 })]);
      },
    };
  } catch (error) {
    await Promise.all([main.end({ timeout: 0 }), readers.end({ timeout: 0 })]);
    throw reported(error, place);
  }
}
