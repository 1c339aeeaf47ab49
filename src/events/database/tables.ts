import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { prepareCrashCounts } from '../channels/broker/crash-count-calls.ts';
import { waitingRetryTables } from '../channels/broker/waiting-retry-calls.ts';
import { defaultLimits } from '../cloudevents/event.ts';
import { decodeJsonEvent } from '../cloudevents/json-format.ts';
import { letterTables } from '../dead-letters/letter-calls.ts';
import { handledTables } from '../idempotence/handled-calls.ts';
import { storedEvent } from './stored-event.ts';

const FULL_BYTES = 1_073_741_824;
const PAGE_BYTES = 4_096;

/** Makes the tables, and frees what a process before this one had received and did not settle. */
export function prepareTables(database: DatabaseSync): void {
  database.exec(`
    pragma page_size = ${PAGE_BYTES};
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma max_page_count = ${FULL_BYTES / PAGE_BYTES};
  `);
  database.exec('begin immediate');
  if (versionOf(database) === 0) {
    const before = database.prepare("select 1 from sqlite_schema where name = 'deliveries'").get();
    if (before !== undefined) setFirstTablesAside(database);
    database.exec(channelTables);
    if (before !== undefined) takeOverFirstTables(database);
    database.exec('pragma user_version = 1');
  }
  database.exec(handledTables);
  database.exec(letterTables);
  if (versionOf(database) === 1) {
    for (const table of ['deliveries', 'dead_letters'])
      database.exec(`alter table ${table} add column failures text`);
    database.exec('pragma user_version = 2');
  }
  database.exec(waitingRetryTables);
  prepareCrashCounts(database, Date.now());
  database.exec('update deliveries set due = 0, leased = 0, crashes = crashes + 1 where leased = 1');
  database.exec('commit');
}

/**
 * `due` is 0 for what may be received at once, else when that is so, or when the lease ends: milliseconds since the epoch.
 * `attempt` is the one that is under way or comes next, `failures` (of the second version) tells of those before. The consumer '' of a topic stands for the first who subscribes.
 */
const channelTables = `
  create table events (
    seq integer primary key autoincrement, topic text not null, event blob not null, checksum integer not null
  );
  create table consumers (
    id integer primary key, topic text not null, name text not null, subscribed integer not null,
    unique (topic, name)
  );
  create table deliveries (
    consumer integer not null, seq integer not null, due integer not null, leased integer not null,
    attempt integer not null, crashes integer not null,
    primary key (consumer, seq)
  ) without rowid;
  create index deliveries_by_due on deliveries (consumer, due, seq);
  create table instance (name text not null);
`;

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('pragma user_version').get()?.['user_version']);
}

/** The tables of the first release: names in each row, attempts counted when they began, events as JSON without checksums. */
function setFirstTablesAside(database: DatabaseSync): void {
  for (const table of ['events', 'consumers', 'deliveries'])
    database.exec(`alter table ${table} rename to first_${table}`);
}

function takeOverFirstTables(database: DatabaseSync): void {
  database.function('checksum', (bytes) => (bytes instanceof Uint8Array ? crc32(bytes) : 0));
  database.function('stored', (bytes) => (bytes instanceof Uint8Array ? storedFirst(bytes) : null));
  database.exec(`
    insert into events
      select seq, topic, stored(event), checksum(stored(event)) from first_events;
    insert into consumers (topic, name, subscribed)
      select topic, consumer, 1 from first_consumers
      union select topic, consumer, 0 from first_deliveries
        where (topic, consumer) not in (select topic, consumer from first_consumers);
    insert into deliveries
      select consumers.id, seq, iif(leased, 0, due), 0, attempts + 1 - leased, 0
        from first_deliveries join consumers on consumers.topic = first_deliveries.topic and name = consumer;
    drop table first_deliveries;
    drop table first_consumers;
    drop table first_events;
  `);
}

function storedFirst(json: Uint8Array): Uint8Array {
  const decoded = decodeJsonEvent(json, { ...defaultLimits, maxEventBytes: Number.POSITIVE_INFINITY });
  return decoded.ok ? storedEvent(decoded.value) : json;
}
