import type { DatabaseSync } from 'node:sqlite';

/** What the worker of a database of events is asked. Times in milliseconds since the epoch. */
export type Operation =
  | { readonly kind: 'publish'; readonly topic: string; readonly event: Uint8Array; readonly now: number }
  | { readonly kind: 'subscribe'; readonly topic: string; readonly consumer: string }
  | { readonly kind: 'endOthers'; readonly topic: string; readonly consumers: readonly string[] }
  | {
      readonly kind: 'receive';
      readonly topic: string;
      readonly consumer: string;
      readonly limit: number;
      readonly now: number;
      readonly until: number;
    }
  | { readonly kind: 'ack'; readonly topic: string; readonly consumer: string; readonly id: number }
  | {
      readonly kind: 'defer';
      readonly topic: string;
      readonly consumer: string;
      readonly id: number;
      readonly due: number;
      /** 0, or -1 for an attempt that does not count. */
      readonly attempts: 0 | -1;
    }
  | { readonly kind: 'next'; readonly topic: string; readonly consumer: string };

/** A row that `receive` gives. */
export interface Received {
  readonly id: number;
  readonly attempt: number;
  readonly event: Uint8Array;
}

export type Answer = null | number | readonly Received[];

/** Who is meant to get what nobody subscribed to yet. */
const NOBODY = '';
const FULL_BYTES = 1_073_741_824;
const PAGE_BYTES = 4_096;

/** Makes the tables, and frees what a process before this one had taken. */
export function prepare(database: DatabaseSync): void {
  database.exec(`
    pragma page_size = ${PAGE_BYTES};
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma max_page_count = ${FULL_BYTES / PAGE_BYTES};
    create table if not exists events (seq integer primary key autoincrement, topic text not null, event blob not null);
    create table if not exists consumers (topic text not null, consumer text not null, primary key (topic, consumer)) without rowid;
    create table if not exists deliveries (
      topic text not null, consumer text not null, seq integer not null,
      due integer not null, attempts integer not null, leased integer not null,
      primary key (topic, consumer, seq)
    ) without rowid;
    create index if not exists deliveries_of_event on deliveries (seq);
    update deliveries set due = 0, leased = 0 where leased = 1;
  `);
}

/** Carries out one operation at a time, inside the transaction of the caller. */
export function operations(database: DatabaseSync): (operation: Operation) => Answer {
  const one = (sql: string) => database.prepare(sql);
  const addEvent = one('insert into events (topic, event) values (?, ?)');
  const addForAll = one(
    'insert into deliveries select topic, consumer, ?, ?, 0, 0 from consumers where topic = ?',
  );
  const addForNobody = one('insert into deliveries values (?, ?, ?, ?, 0, 0)');
  const addConsumer = one('insert or ignore into consumers values (?, ?)');
  const endOthers = one(
    'delete from consumers where topic = ? and consumer not in (select value from json_each(?))',
  );
  const claim = one('update deliveries set consumer = ? where topic = ? and consumer = ?');
  const due = one(`select seq, attempts, event from deliveries join events using (seq)
    where deliveries.topic = ? and consumer = ? and due <= ? order by seq limit ?`);
  const lease = one(`update deliveries set due = ?, leased = 1, attempts = attempts + 1
    where topic = ? and consumer = ? and seq = ?`);
  const settle = one('delete from deliveries where topic = ? and consumer = ? and seq = ?');
  const forget = one(
    'delete from events where seq = ? and not exists (select 1 from deliveries where seq = ?)',
  );
  const defer = one(`update deliveries set due = ?, leased = 0, attempts = attempts + ?
    where topic = ? and consumer = ? and seq = ?`);
  const next = one('select min(due) as due from deliveries where topic = ? and consumer = ?');
  return (operation) => {
    const { topic } = operation;
    switch (operation.kind) {
      case 'publish': {
        const { lastInsertRowid: seq } = addEvent.run(topic, operation.event);
        const { changes } = addForAll.run(seq, operation.now, topic);
        if (changes === 0) addForNobody.run(topic, NOBODY, seq, operation.now);
        return null;
      }
      case 'subscribe': {
        const { changes } = addConsumer.run(topic, operation.consumer);
        if (changes !== 0) claim.run(operation.consumer, topic, NOBODY);
        return null;
      }
      case 'endOthers':
        endOthers.run(topic, JSON.stringify(operation.consumers));
        return null;
      case 'receive': {
        const { consumer, limit, now, until } = operation;
        return due.all(topic, consumer, now, limit).map((row) => {
          lease.run(until, topic, consumer, Number(row['seq']));
          return {
            id: Number(row['seq']),
            attempt: Number(row['attempts']) + 1,
            event: row['event'] instanceof Uint8Array ? row['event'] : new Uint8Array(),
          };
        });
      }
      case 'ack':
        settle.run(topic, operation.consumer, operation.id);
        forget.run(operation.id, operation.id);
        return null;
      case 'defer':
        defer.run(operation.due, operation.attempts, topic, operation.consumer, operation.id);
        return null;
      case 'next': {
        const row = next.get(topic, operation.consumer);
        return row?.['due'] == null ? null : Number(row['due']);
      }
    }
  };
}
