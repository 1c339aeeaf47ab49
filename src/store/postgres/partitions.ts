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
      return [...new Set(rows.map(({ start }) => start))].sort((one, other) => one - other);
    },
    async drop(start) {
      const existing = (await partitionsOf(sql())).filter((one) => one.start === start);
      // One whose removal was cut off comes first: a later one of its month has the plain name.
      const [oldest] = existing.toSorted((one, other) => other.name.length - one.name.length);
      if (oldest !== undefined) await removed(sql, oldest);
    },
  };
}

/** Removes a partition, but for the requests that came after the other days of its month were archived. */
async function removed(sql: () => Sql, { name: current, start, state }: Partition): Promise<void> {
  // So that one whose removal was cut off is told from one that somebody detached to keep it.
  await sql().unsafe(`comment on table ${current} is '${DROPPED}'`);
  const plain = nameOf(start);
  const name = `${plain}${REMOVED}`;
  // A request of the month that comes from now on finds its name free for another partition.
  if (current === plain) await sql().unsafe(`alter table ${plain} rename to ${name}`);
  // Unlike `drop table`, detaching waits without locking those out who read or write other months.
  if (state === 'attached') await sql().unsafe(`alter table requests detach partition ${name} concurrently`);
  if (state === 'detaching') await sql().unsafe(`alter table requests detach partition ${name} finalize`);
  // Nobody writes to it any more, so none comes after this look.
  const late = `from ${name} as late where not exists (select 1 from archived_spans as span
    where span.step_ms = ${DAY_MS} and span.at = late.started_at / ${DAY_MS} * ${DAY_MS})`;
  const [some] = await sql().unsafe(`select 1 ${late} limit 1`);
  if (some !== undefined) {
    await create(sql(), start);
    await sql().unsafe(`insert into requests select late.* ${late} on conflict do nothing`);
  }
  await sql().unsafe(`drop table ${name}`);
}

const DAY_MS = 86_400_000;

/** What the name of a partition ends with that is being removed. */
const REMOVED = '_removed';

/** What is said of a partition that is being removed. */
const DROPPED = 'removed by its age';

interface Partition {
  name: string;
  start: number;
  state: 'attached' | 'detaching' | 'detached';
}

const partitionName = /^requests_(\d{4})_(\d{2})(?:_removed)?$/;

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

function nameOf(start: number): string {
  return `requests_${new Date(start).toISOString().slice(0, 7).replace(/\W/g, '_')}`;
}

/** SQLSTATE of what exists already: of the table, and of its entry in a catalogue when two make it at once. */
const exists: ReadonlySet<string> = new Set(['42P07', '23505', '42710']);

/** SQLSTATE of a partition whose span another has. */
const OVERLAP = '42P17';

async function create(sql: Pick<Sql, 'unsafe'>, start: number): Promise<void> {
  const from = new Date(start);
  const end = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1);
  const name = nameOf(start);
  try {
    await sql.unsafe(
      `create table if not exists ${name} partition of requests for values from (${start}) to (${end})`,
    );
  } catch (error) {
    if (exists.has(codeOf(error))) return;
    // One whose removal has begun and was cut off takes requests until it is detached.
    const all = codeOf(error) === OVERLAP ? await partitionsOf(sql) : [];
    if (!all.some((one) => one.start === start && one.state === 'attached')) throw error;
  }
}
