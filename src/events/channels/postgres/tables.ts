import type { Sql } from 'postgres';
import { inTransaction, lockOf, openTransaction } from '../../../store/postgres/transaction.ts';

/**
 * `due` is '-infinity' for what may be received at once, else when that is so, or when the lease of `gateway` ends: by the clock
 * of the server, which all gateways share. The consumer '' of a topic stands for the first who subscribes.
 */
const tables = `
  create table modelgate_events (
    seq bigint generated always as identity primary key, topic text not null, event bytea not null
  );
  create table modelgate_consumers (
    id bigint generated always as identity primary key, topic text not null, name text not null,
    unique (topic, name)
  );
  create table modelgate_subscriptions (
    consumer bigint not null references modelgate_consumers on delete cascade, gateway text not null,
    primary key (consumer, gateway)
  );
  create table modelgate_deliveries (
    consumer bigint not null references modelgate_consumers on delete cascade, seq bigint not null,
    due timestamptz not null default '-infinity', gateway text, attempt integer not null default 1,
    crashes integer not null default 0,
    primary key (consumer, seq)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
  create index modelgate_deliveries_by_due on modelgate_deliveries (consumer, due, seq);
  create index modelgate_deliveries_by_event on modelgate_deliveries (seq);
`;

/** Whoever takes it makes the tables; others wait. A number by chance. */
const LOCK = 7_348_910_225;

/** Makes the tables unless they are there. Their owner may be somebody who does not run the gateway. */
export async function prepareTables(client: Sql): Promise<void> {
  await inTransaction(
    () => openTransaction(client, lockOf(LOCK)),
    async (transaction) => {
      const [found] = await transaction.unsafe(
        `select to_regclass('modelgate_deliveries') is not null as there`,
      );
      if (found?.['there'] !== true) await transaction.unsafe(tables);
      if (!(await keepsFailures(transaction))) await addFailures(transaction);
    },
  );
}

/** Whether a delivery has a place for what its attempts failed with. Those of an earlier version have none. */
export async function keepsFailures(sql: Pick<Sql, 'unsafe'>): Promise<boolean> {
  const [found] = await sql.unsafe(`select exists (
    select from pg_attribute where attrelid = 'modelgate_deliveries'::regclass and attname = 'failures' and not attisdropped
  ) as there`);
  return found?.['there'] === true;
}

const NOT_THE_OWNER = '42501';

/** Only the owner of the table may: without it, dead letters tell of the last attempt alone. */
async function addFailures(transaction: Pick<Sql, 'unsafe'>): Promise<void> {
  await transaction.unsafe('savepoint failures');
  try {
    await transaction.unsafe('alter table modelgate_deliveries add column failures text');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === NOT_THE_OWNER)) throw error;
    await transaction.unsafe('rollback to failures');
  }
}
