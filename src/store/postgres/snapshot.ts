import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import type { PostgresAddress } from './address.ts';
import { reported } from './failure.ts';
import { connect } from './pool.ts';
import { kyselyOverStatements, sent } from './statements.ts';
import { inTransaction, openTransaction } from './transaction.ts';

/** For how long the server lets one statement run, and the last of it be waited for at the end, in milliseconds and seconds. */
const STATEMENT_MS = 600_000;
const END_S = 5;

/**
 * Begins a transaction that may last for hours, whatever time the server gives to others, and that waits for locks as long as for
 * anything else. Version 17 ends long ones; an older one does not know that setting.
 */
const BEGIN = `set transaction isolation level repeatable read; set local idle_in_transaction_session_timeout = 0;
  set local lock_timeout = 0;
  select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`;

/**
 * Does work in a transaction that sees the database as it is at one moment, on a connection of its own.
 * @throws what `work` throws, and GatewayError where the server does not answer; nothing was changed then
 */
export async function inSnapshot<T>(
  address: PostgresAddress,
  work: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const client = connect(address, { max: 1, statementMs: STATEMENT_MS });
  const begin = () => openTransaction(client, BEGIN);
  try {
    return await inTransaction(begin, (transaction) =>
      work(
        kyselyOverStatements<Tables>(async ({ parameters, sql }) => {
          const rows = await transaction.unsafe(
            sql,
            parameters.map((value) => sent(client, value)),
          );
          return { rows: [...rows], numAffectedRows: BigInt(rows.count ?? 0) };
        }),
      ),
    );
  } catch (error) {
    throw reported(error, address.place);
  } finally {
    await client.end({ timeout: END_S });
  }
}
