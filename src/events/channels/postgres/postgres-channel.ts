import type { Sql } from 'postgres';
import type { Log } from '../../../lib/log.ts';
import { eventOfStored, storedEvent } from '../../database/stored-event.ts';
import type { BackgroundTasks } from '../background-tasks.ts';
import { createReconnectingConnection } from '../broker/reconnecting-connection.ts';
import type { Channel, Content } from '../channel.ts';
import { failuresOf, failuresText } from '../failed-attempt.ts';
import { createBatches } from './batches.ts';
import { arrayType, notify, type PostgresConnection } from './connect-postgres.ts';
import { keepsFailures } from './tables.ts';

/** Gateways that missed a notification ask so often. */
const POLL_MS = 5_000;
const MAX_CALLS = 20_000;

export interface PostgresChannelInput {
  /** @param onEvents is called with each topic that gets events. @param onLost is called when the connection is of no use any more */
  connect(onEvents: (topic: string) => void, onLost: (error: Error) => void): Promise<PostgresConnection>;
  /** What the configuration calls the channel. */
  channelId: string;
  topic: string;
  /** Names this gateway, and no other, now and after it was started again. */
  instance(): Promise<string>;
  background: BackgroundTasks;
  log: Log;
}

/** A topic in the tables of a PostgreSQL database, which any number of gateways may share. */
export function createPostgresChannel(input: PostgresChannelInput): Channel {
  const { background, channelId, connect, log, topic } = input;
  const listeners = new Set<() => void>();
  const arrived = () => {
    for (const listener of listeners) listener();
  };
  const ids = new Map<string, number>();
  const gateway = input.instance();
  gateway.catch(() => {});
  const connection = createReconnectingConnection({
    broker: { connect: (onLost) => connect((changed) => changed === topic && arrived(), onLost) },
    maxCalls: MAX_CALLS,
    onConnected() {
      log.info({ channel: channelId }, 'a message queue is connected');
      arrived();
    },
    onLost(error) {
      log.warn({ channel: channelId, error: error.message }, 'a message queue cannot be reached');
      freed = null;
      hasFailures = null;
    },
  });
  let hasFailures: Promise<boolean> | null = null;
  const run = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => connection.run(({ sql }) => work(sql));
  const withFailures = (): Promise<boolean> => {
    hasFailures ??= run(keepsFailures).catch((error: unknown) => {
      hasFailures = null;
      throw error;
    });
    return hasFailures;
  };

  /** What consumers have in hand: the numbers of the events, by consumer. */
  const heldKeys = new Map<number, Set<string>>();
  const heldBy = (consumer: number): Set<string> => {
    const seqs = heldKeys.get(consumer) ?? new Set();
    heldKeys.set(consumer, seqs);
    return seqs;
  };
  let crashed = 1;
  let freed: Promise<void> | null = null;
  /**
   * What this gateway received before it was started again, or just when its connection was lost, nobody has in hand: it is due.
   * Only the first of these counts as a crash.
   */
  const free = (): Promise<void> => {
    freed ??= freeLeased().catch((error: unknown) => {
      freed = null;
      throw error;
    });
    return freed;
  };
  const freeLeased = async () => {
    const name = await gateway;
    const pairs = [...heldKeys].flatMap(([consumer, seqs]) => [...seqs].map((seq) => ({ consumer, seq })));
    const consumers = pairs.map(({ consumer }) => consumer);
    const seqs = pairs.map(({ seq }) => seq);
    await run(async (sql) => {
      await sql`update modelgate_deliveries set due = '-infinity', gateway = null, crashes = crashes + ${crashed}
        where gateway = ${name} and consumer in (select id from modelgate_consumers where topic = ${topic})
          and (consumer, seq) not in (select * from unnest(${consumers}::bigint[], ${seqs}::bigint[]))`;
    });
    crashed = 0;
  };

  const idOf = async (consumer: string): Promise<number> => {
    const existing = ids.get(consumer);
    if (existing !== undefined) return existing;
    const id = await run(async (sql) => {
      await sql`insert into modelgate_consumers (topic, name) values (${topic}, ${consumer})
        on conflict do nothing`;
      const [row] =
        await sql`select id from modelgate_consumers where topic = ${topic} and name = ${consumer}`;
      return Number(row?.['id']);
    });
    ids.set(consumer, id);
    return id;
  };
  /** What nobody subscribed to goes to the first who does, and what was published meanwhile, too. */
  const claim = () =>
    run(async (sql) => {
      await sql`update modelgate_deliveries set consumer =
          (select min(consumer) from modelgate_subscriptions join modelgate_consumers on id = consumer where topic = ${topic})
        where consumer = (select id from modelgate_consumers where topic = ${topic} and name = '')
          and exists (select 1 from modelgate_subscriptions join modelgate_consumers on id = consumer where topic = ${topic})`;
    });
  const poll = setInterval(() => {
    if (listeners.size === 0 || connection.problem() !== null) return;
    void background.run('assign-unclaimed', claim);
    arrived();
  }, POLL_MS);

  const publish = createBatches<Buffer>(async (events) => {
    const nobody = await idOf('');
    await run(async (sql) => {
      await sql`with added as (
          insert into modelgate_events (topic, event)
          select ${topic}, event from unnest(${sql.array([...events], arrayType.bytea)}) with ordinality as list (event, place)
          order by place returning seq
        ), subscribed as (
          select distinct consumer from modelgate_subscriptions join modelgate_consumers on id = consumer
          where topic = ${topic}
        )
        insert into modelgate_deliveries (consumer, seq)
        select consumer, seq from added cross join (
          select consumer from subscribed
          union all select ${nobody}::bigint where not exists (select 1 from subscribed)
        ) as receivers`;
      await notify(sql, topic);
    });
  });

  interface Settled {
    readonly consumer: number;
    readonly seq: string;
  }
  const ack = createBatches<Settled>(async (settled) => {
    const name = await gateway;
    const consumers = settled.map(({ consumer }) => consumer);
    const seqs = settled.map(({ seq }) => seq);
    await run(async (sql) => {
      await sql`with done as (
          delete from modelgate_deliveries using
            unnest(${consumers}::bigint[], ${seqs}::bigint[]) as settled (by_consumer, event)
          where consumer = by_consumer and seq = event and gateway = ${name}
          returning consumer, seq
        )
        delete from modelgate_events using done
        where modelgate_events.seq = done.seq and not exists (
          select 1 from modelgate_deliveries others
          where others.seq = done.seq and (others.consumer, others.seq) not in (select consumer, seq from done)
        )`;
    });
  });

  return {
    publish: (event) => publish(storedEvent(event)),
    async subscribe(consumer) {
      const name = await gateway;
      const id = await idOf(consumer);
      await run(async (sql) => {
        await sql`insert into modelgate_subscriptions values (${id}, ${name}) on conflict do nothing`;
      });
      await claim();
    },
    async endOtherSubscriptions(consumers) {
      const name = await gateway;
      await run(async (sql) => {
        await sql`delete from modelgate_subscriptions using modelgate_consumers
          where id = consumer and topic = ${topic} and gateway = ${name} and not name = any(${[...consumers]})`;
      });
    },
    async receive(consumer, limit, leaseMs) {
      await free();
      const name = await gateway;
      const id = await idOf(consumer);
      const hasFailures = await withFailures();
      const rows = await run(
        (sql) => sql`with ready as (
            select seq from modelgate_deliveries where consumer = ${id} and due = '-infinity'
            order by seq limit ${limit} for update skip locked
          ), overdue as (
            select seq from modelgate_deliveries
            where consumer = ${id} and due > '-infinity' and due <= clock_timestamp()
            order by due limit ${limit} for update skip locked
          ), oldest as (
            select seq from (select seq from ready union all select seq from overdue) as both_kinds
            order by seq limit ${limit}
          ), leased as (
            update modelgate_deliveries as delivery
            set due = clock_timestamp() + ${leaseMs} * interval '1 millisecond', gateway = ${name},
              crashes = crashes + (gateway is not null)::integer
            from oldest where consumer = ${id} and delivery.seq = oldest.seq
            returning delivery.seq, attempt, crashes, ${hasFailures ? sql`failures` : sql`null as failures`}
          )
          select seq, event, attempt, crashes, failures from leased left join modelgate_events using (seq) order by seq`,
      );
      for (const row of rows) heldBy(id).add(String(row['seq']));
      return rows.map((row) => ({
        id: String(row['seq']),
        content: contentOf(row['event']),
        attempt: Number(row['attempt']),
        crashes: Number(row['crashes']),
        failures: failuresOf(row['failures']),
      }));
    },
    async renew(consumer, seqs, leaseMs) {
      const name = await gateway;
      const id = await idOf(consumer);
      await run(async (sql) => {
        await sql`update modelgate_deliveries set due = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
          where consumer = ${id} and seq = any(${numbers(seqs)}::bigint[]) and gateway = ${name}`;
      });
    },
    async ack(consumer, seq) {
      if (numbers([seq]).length === 0) return;
      const id = await idOf(consumer);
      await ack({ consumer: id, seq });
      heldBy(id).delete(seq);
    },
    async retry(consumer, seq, delayMs, failures) {
      const name = await gateway;
      const id = await idOf(consumer);
      const hasFailures = await withFailures();
      await run(async (sql) => {
        const failuresColumn = hasFailures ? sql`, failures = ${failuresText(failures)}` : sql``;
        await sql`update modelgate_deliveries set due = clock_timestamp() + ${delayMs} * interval '1 millisecond',
            gateway = null, attempt = attempt + 1, crashes = 0${failuresColumn}
          where consumer = ${id} and seq = any(${numbers([seq])}::bigint[]) and gateway = ${name}`;
      });
      heldBy(id).delete(seq);
    },
    async release(consumer, seq) {
      const name = await gateway;
      const id = await idOf(consumer);
      await run(async (sql) => {
        await sql`update modelgate_deliveries set due = '-infinity', gateway = null
          where consumer = ${id} and seq = any(${numbers([seq])}::bigint[]) and gateway = ${name}`;
      });
      heldBy(id).delete(seq);
    },
    async nextDueIn(consumer) {
      const id = await idOf(consumer);
      const [row] = await run(
        (
          sql,
        ) => sql`select greatest(0, extract(epoch from nullif(min(due), '-infinity') - clock_timestamp()) * 1000)
            as wait, count(*) > 0 as any from (
              select due from modelgate_deliveries where consumer = ${id} order by due limit 1
            ) as first`,
      );
      return row?.['any'] === true ? Math.ceil(Number(row['wait'] ?? 0)) : null;
    },
    onArrival(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async depth(consumer) {
      const id = await idOf(consumer);
      const [row] = await run(
        (sql) => sql`select count(*) filter (where gateway is null) as waiting,
            count(*) filter (where gateway is not null) as held
          from modelgate_deliveries where consumer = ${id}`,
      );
      return { waiting: Number(row?.['waiting']), held: Number(row?.['held']) };
    },
    problem: connection.problem,
    degradations: background.problems,
    warnings: () => [],
    async close() {
      listeners.clear();
      clearInterval(poll);
      await connection.close();
    },
  };
}

/** The ids among these texts. */
const numbers = (ids: readonly string[]): string[] => ids.filter((id) => /^\d+$/.test(id));

function contentOf(bytes: unknown): Content {
  if (!(bytes instanceof Uint8Array))
    return { ok: false, bytes: new Uint8Array(), problem: 'The event is missing' };
  const event = eventOfStored(bytes);
  return event === null ? { ok: false, bytes, problem: 'The bytes are no event' } : { ok: true, event };
}
