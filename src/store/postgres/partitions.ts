import type { Sql } from 'postgres';
import { codeOf } from './failure.ts';

/** The ledger is divided by the month, of UTC, in which requests began. */
export interface Partitions {
  /** Makes those for requests that began at these times, in milliseconds since the epoch. */
  cover(times: Iterable<number>): Promise<void>;
}

export function ledgerPartitions(sql: () => Sql): Partitions {
  const made = new Set<number>();
  return {
    async cover(times) {
      const missing = new Set<number>();
      for (const time of times) {
        const start = monthOf(time);
        if (!made.has(start)) missing.add(start);
      }
      for (const start of missing) {
        await create(sql(), start);
        made.add(start);
      }
    },
  };
}

/** When the month begins that a time is in. */
function monthOf(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** SQLSTATE of what exists already: of the table, and of its entry in a catalogue when two make it at once. */
const exists: ReadonlySet<string> = new Set(['42P07', '23505', '42710']);

async function create(sql: Pick<Sql, 'unsafe'>, start: number): Promise<void> {
  const from = new Date(start);
  const end = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1);
  const name = `requests_${from.toISOString().slice(0, 7).replace(/\W/g, '_')}`;
  try {
    await sql.unsafe(
      `create table if not exists ${name} partition of requests for values from (${start}) to (${end})`,
    );
  } catch (error) {
    if (!exists.has(codeOf(error))) throw error;
  }
}
