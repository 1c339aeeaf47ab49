import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { Depth } from '../channel.ts';
import { type FailedAttempt, failuresOf, failuresText } from '../failed-attempt.ts';

/** Who is meant. */
export interface ConsumerKey {
  readonly topic: string;
  readonly consumer: string;
}

/** A row that `receive` gives. */
export interface StoredDelivery {
  readonly seq: number;
  readonly event: Uint8Array;
  /** Whether the bytes are those that were written. */
  readonly intact: boolean;
  readonly attempt: number;
  readonly crashes: number;
  readonly failures: readonly FailedAttempt[];
}

/** What channels ask of the thread of their database. Times in milliseconds since the epoch. */
export interface ChannelCalls {
  publish(input: { readonly topic: string; readonly event: Uint8Array }): null;
  /** A message for one consumer alone, who gets it as a later attempt. */
  put(
    input: ConsumerKey & {
      readonly event: Uint8Array;
      readonly attempt: number;
      readonly due: number;
      readonly failures: readonly FailedAttempt[];
    },
  ): null;
  subscribe(input: ConsumerKey): null;
  isSubscribed(input: ConsumerKey): boolean;
  otherSubscribers(input: { readonly topic: string; readonly consumers: readonly string[] }): string[];
  endOtherSubscriptions(input: { readonly topic: string; readonly consumers: readonly string[] }): null;
  receive(
    input: ConsumerKey & { readonly limit: number; readonly now: number; readonly until: number },
  ): StoredDelivery[];
  renew(input: ConsumerKey & { readonly seqs: readonly number[]; readonly until: number }): null;
  ack(input: ConsumerKey & { readonly seq: number }): null;
  retry(
    input: ConsumerKey & {
      readonly seq: number;
      readonly due: number;
      readonly failures: readonly FailedAttempt[];
    },
  ): null;
  release(input: ConsumerKey & { readonly seq: number }): null;
  /** When a message may be due; null when none waits. */
  nextDue(input: ConsumerKey): number | null;
  depth(input: ConsumerKey): Depth;
  /** A name for whoever has this database, which it keeps. */
  instance(input: null): string;
}

/** Stands for the first consumer who subscribes. */
const NOBODY = '';

export function channelCalls(database: DatabaseSync): ChannelCalls {
  const sql = (text: string) => database.prepare(text);
  const addEvent = sql('insert into events (topic, event, checksum) values (?, ?, ?)');
  const deleteEvent = sql('delete from events where seq = ?');
  const addDelivery = sql('insert into deliveries values (?, ?, ?, 0, ?, 0, ?)');
  const deleteDelivery = sql('delete from deliveries where consumer = ? and seq = ? and leased = 1');
  const isAwaited =
    sql(`select 1 from consumers join deliveries on deliveries.consumer = consumers.id and seq = ?
    where consumers.topic = ? limit 1`);
  const addConsumer = sql('insert or ignore into consumers (topic, name, subscribed) values (?, ?, 0)');
  const consumerId = sql('select id from consumers where topic = ? and name = ?');
  const startSubscription = sql('update consumers set subscribed = 1 where id = ? and subscribed = 0');
  const isSubscribed = sql('select 1 from consumers where id = ? and subscribed = 1');
  const others = 'topic = ? and subscribed = 1 and name not in (select value from json_each(?))';
  const otherSubscribers = sql(`select name from consumers where ${others}`);
  const endSubscriptions = sql(`update consumers set subscribed = 0 where ${others}`);
  const subscribers = sql('select id from consumers where topic = ? and subscribed = 1');
  const reassign = sql('update deliveries set consumer = ? where consumer = ?');
  const columns = 'select seq, leased, attempt, crashes, failures from deliveries where consumer = ?';
  const ready = sql(`${columns} and due = 0 order by seq limit ?`);
  const overdue = sql(`${columns} and due > 0 and due <= ? order by due limit ?`);
  const eventOf = sql('select event, checksum from events where seq = ?');
  const lease = sql('update deliveries set due = ?, leased = 1, crashes = ? where consumer = ? and seq = ?');
  const renew = sql('update deliveries set due = ? where consumer = ? and seq = ? and leased = 1');
  const retry =
    sql(`update deliveries set due = ?, leased = 0, attempt = attempt + 1, crashes = 0, failures = ?
    where consumer = ? and seq = ? and leased = 1`);
  const release = sql(
    `update deliveries set due = 0, leased = 0 where consumer = ? and seq = ? and leased = 1`,
  );
  const nextDue = sql('select min(due) as due from deliveries where consumer = ?');
  const count = sql('select count(*) as total, sum(leased) as held from deliveries where consumer = ?');

  const addInstance = sql('insert into instance select ? where not exists (select 1 from instance)');
  const instance = sql('select name from instance');

  const ids = new Map<string, number>();
  const idOf = ({ consumer, topic }: ConsumerKey): number => {
    const key = JSON.stringify([topic, consumer]);
    const existing = ids.get(key);
    if (existing !== undefined) return existing;
    addConsumer.run(topic, consumer);
    const id = Number(consumerId.get(topic, consumer)?.['id']);
    ids.set(key, id);
    return id;
  };
  const subscribed = new Map<string, readonly number[]>();
  const subscribersOf = (topic: string): readonly number[] => {
    const existing = subscribed.get(topic) ?? subscribers.all(topic).map(({ id }) => Number(id));
    subscribed.set(topic, existing);
    return existing.length > 0 ? existing : [idOf({ topic, consumer: NOBODY })];
  };

  return {
    publish({ event, topic }) {
      const { lastInsertRowid: seq } = addEvent.run(topic, event, crc32(event));
      for (const consumer of subscribersOf(topic)) addDelivery.run(consumer, seq, 0, 1, null);
      return null;
    },
    put({ attempt, due, event, failures, ...reader }) {
      const { lastInsertRowid: seq } = addEvent.run(reader.topic, event, crc32(event));
      addDelivery.run(idOf(reader), seq, due, attempt, failuresText(failures));
      return null;
    },
    subscribe(reader) {
      const id = idOf(reader);
      if (startSubscription.run(id).changes === 0) return null;
      reassign.run(id, idOf({ topic: reader.topic, consumer: NOBODY }));
      subscribed.delete(reader.topic);
      return null;
    },
    isSubscribed: (reader) => isSubscribed.get(idOf(reader)) !== undefined,
    otherSubscribers: ({ consumers, topic }) =>
      otherSubscribers.all(topic, JSON.stringify(consumers)).map(({ name }) => String(name)),
    endOtherSubscriptions({ consumers, topic }) {
      endSubscriptions.run(topic, JSON.stringify(consumers));
      subscribed.delete(topic);
      return null;
    },
    receive({ limit, now, until, ...reader }) {
      const id = idOf(reader);
      const rows = [...overdue.all(id, now, limit), ...ready.all(id, limit)];
      return rows
        .map((row) => ({
          seq: Number(row['seq']),
          attempt: Number(row['attempt']),
          crashes: Number(row['crashes']) + Number(row['leased']),
          failures: failuresOf(row['failures']),
        }))
        .sort((a, b) => a.seq - b.seq)
        .slice(0, limit)
        .map(({ seq, ...counted }) => {
          lease.run(until, counted.crashes, id, seq);
          const stored = eventOf.get(seq);
          const event = stored?.['event'] instanceof Uint8Array ? stored['event'] : new Uint8Array();
          return { seq, event, intact: crc32(event) === stored?.['checksum'], ...counted };
        });
    },
    renew({ seqs, until, ...reader }) {
      for (const seq of seqs) renew.run(until, idOf(reader), seq);
      return null;
    },
    ack({ seq, ...reader }) {
      const { changes } = deleteDelivery.run(idOf(reader), seq);
      if (changes !== 0 && isAwaited.get(seq, reader.topic) === undefined) deleteEvent.run(seq);
      return null;
    },
    retry({ due, failures, seq, ...reader }) {
      retry.run(due, failuresText(failures), idOf(reader), seq);
      return null;
    },
    release({ seq, ...reader }) {
      release.run(idOf(reader), seq);
      return null;
    },
    nextDue(reader) {
      const due = nextDue.get(idOf(reader))?.['due'];
      return due === null || due === undefined ? null : Number(due);
    },
    depth(reader) {
      const row = count.get(idOf(reader));
      const heldCount = Number(row?.['held'] ?? 0);
      return { waiting: Number(row?.['total'] ?? 0) - heldCount, held: heldCount };
    },
    instance() {
      addInstance.run(randomUUID());
      return String(instance.get()?.['name']);
    },
  };
}
