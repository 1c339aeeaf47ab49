import type { Sql } from 'postgres';
import type { LedgerMonths } from '../database.ts';
import { codeOf } from './failure.ts';

/** The ledger is divided by the month, of UTC, in which requests began. */
export interface Partitions {
  /** Makes those for requests that began at these times, in milliseconds since the epoch. */
  cover(times: Iterable<number>): Promise<void>;
  /** Looks again for all of them: another gateway may have dropped some. */
  forget(): void;
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
    forget: () => made.clear(),
  };
}

/** The months that there are partitions of, and their removal. */
export function ledgerMonths(sql: () => Sql): LedgerMonths {
  return {
    async list() {
      const rows = await partitionsOf(sql());
      return rows.map(({ start }) => start).sort((one, other) => one - other);
    },
    async drop(start) {
      const found = (await partitionsOf(sql())).find((one) => one.start === start);
      if (found === undefined) return;
      const { name, state } = found;
      // So that one whose removal was cut off is told from one that somebody detached to keep it.
      await sql().unsafe(`comment on table ${name} is '${DROPPED}'`);
      // Unlike `drop table`, detaching waits without locking those out who read or write other months.
      if (state === 'attached')
        await sql().unsafe(`alter table requests detach partition ${name} concurrently`);
      if (state === 'detaching') await sql().unsafe(`alter table requests detach partition ${name} finalize`);
      await sql().unsafe(`drop table ${name}`);
    },
  };
}

/** What is said of a partition that is being removed. */
const DROPPED = 'removed by its age';

interface Partition {
  name: string;
  start: number;
  state: 'attached' | 'detaching' | 'detached';
}

const partitionName = /^requests_(\d{4})_(\d{2})$/;

/** The partitions that there are, and those whose removal was cut off. */
async function partitionsOf(sql: Pick<Sql, 'unsafe'>): Promise<Partition[]> {
  const rows = await sql.unsafe(
    `select relname as name, case when inhrelid is null then 'detached'
        when inhdetachpending then 'detaching' else 'attached' end as state
      from pg_class left join pg_inherits on inhrelid = pg_class.oid and inhparent = 'requests'::regclass
      where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname like 'requests_%'
        and (inhrelid is not null or obj_description(pg_class.oid, 'pg_class') = '${DROPPED}')`,
  );
  return rows.flatMap((row) => {
    const [name, year, month] = partitionName.exec(String(row['name'])) ?? [];
    if (name === undefined) return [];
    const start = Date.UTC(Number(year), Number(month) - 1);
    return [{ name, start, state: row['state'] as Partition['state'] }];
  });
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
