import type { Sql } from 'postgres';
import type { Log } from '../../../lib/log.ts';
import { inTransaction, lockOf, openTransaction } from '../../../store/postgres/transaction.ts';
import { type Address, redactedError } from '../../channels/broker/address.ts';
import { createReconnectingConnection } from '../../channels/broker/reconnecting-connection.ts';
import { connectPostgres } from '../../channels/postgres/connect-postgres.ts';
import { NoSpace } from '../log/segments.ts';
import type { ObjectStore } from './object-store.ts';

const MAX_CALLS = 1_000;
/** What PostgreSQL says when its disk is full. */
const DISK_FULL = '53100';

const table = `
  create table modelgate_objects (
    prefix text not null, key text collate "C" not null, bytes bytea not null,
    primary key (prefix, key)
  );
`;

/** Whoever takes it makes the table; others wait. A number by chance. */
const LOCK = 7_348_910_227;

export interface PostgresObjectsInput {
  /** `?prefix=NAME` keeps the objects of several gateways apart. */
  readonly address: Address;
  readonly log: Log;
}

/** Objects as rows of a PostgreSQL database, in the table `modelgate_objects`. An object is there when its row is committed. */
export function postgresObjects({ address, log }: PostgresObjectsInput): ObjectStore {
  const prefix = address.parameters.get('prefix') ?? '';
  const connection = createReconnectingConnection({
    broker: {
      async connect(onLost) {
        const lost = (error: Error) => onLost(redactedError(error, address));
        try {
          return await connectPostgres(address, { prepare, onEvents: null }, lost);
        } catch (error) {
          throw redactedError(error, address);
        }
      },
    },
    maxCalls: MAX_CALLS,
    onConnected: () => log.info('the distributed storage is connected'),
    onLost: (error) => log.warn({ error: error.message }, 'the distributed storage cannot be reached'),
  });
  const run = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
    connection.run(({ sql }) =>
      work(sql).catch((error: unknown) => {
        const full = error instanceof Error && 'code' in error && error.code === DISK_FULL;
        throw full ? new NoSpace('There is no space left') : error;
      }),
    );
  return {
    async list(start) {
      const rows = await run(
        (sql) => sql`select key from modelgate_objects
          where prefix = ${prefix} and key >= ${start} and starts_with(key, ${start}) order by key`,
      );
      return rows.map((row) => String(row['key']));
    },
    async get(key) {
      const [row] = await run(
        (sql) => sql`select bytes from modelgate_objects where prefix = ${prefix} and key = ${key}`,
      );
      return row?.['bytes'] instanceof Uint8Array ? Buffer.from(row['bytes']) : null;
    },
    async create(key, bytes) {
      const rows = await run(
        (sql) => sql`insert into modelgate_objects values (${prefix}, ${key}, ${bytes})
          on conflict do nothing returning 1 as made`,
      );
      return rows.length === 1 ? 'created' : 'exists';
    },
    async put(key, bytes) {
      await run(async (sql) => {
        await sql`insert into modelgate_objects values (${prefix}, ${key}, ${bytes})
          on conflict (prefix, key) do update set bytes = excluded.bytes`;
      });
    },
    async remove(key) {
      await run(async (sql) => {
        await sql`delete from modelgate_objects where prefix = ${prefix} and key = ${key}`;
      });
    },
    close: connection.close,
  };
}

/** Makes the table unless it is there. Its owner may be somebody who does not run the gateway. */
async function prepare(client: Sql): Promise<void> {
  await inTransaction(
    () => openTransaction(client, lockOf(LOCK)),
    async (transaction) => {
      const [found] = await transaction.unsafe(
        `select to_regclass('modelgate_objects') is not null as there`,
      );
      if (found?.['there'] !== true) await transaction.unsafe(table);
    },
  );
}
