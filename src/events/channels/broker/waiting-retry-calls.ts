import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { type FailedAttempt, failuresOf } from '../failed-attempt.ts';
import type { ConsumerKey } from '../sqlite/channel-calls.ts';

/** A message that waits for another attempt by a trigger that no router leads to any more. */
export interface AbandonedRetry extends ConsumerKey {
  readonly seq: number;
  /** What the configuration called its channel; empty where that is not known. */
  readonly channel: string;
  readonly event: Uint8Array;
  /** Whether the bytes are those that were written. */
  readonly intact: boolean;
  /** Attempts that failed. */
  readonly attempts: number;
  readonly failures: readonly FailedAttempt[];
}

/**
 * Where the triggers' messages of brokers wait for their next attempt: a topic belongs to one address of a message queue, and the
 * triggers and channels of a configuration may come to use another one. Times in milliseconds since the epoch.
 */
export interface WaitingRetryCalls {
  /**
   * From now on the retries of this trigger (`consumer`) in this channel wait in `topic`. What waits for both in topics that the
   * trigger does not receive from any more comes along; those that it does receive from are `others`. @returns how many came
   */
  takeOverRetries(
    input: ConsumerKey & { readonly channel: string; readonly others: readonly string[] },
  ): number;
  /** What waits for others than those that are in use, `[topic, consumer]`. The oldest first. */
  abandonedRetries(input: {
    readonly used: readonly (readonly [topic: string, consumer: string])[];
    readonly now: number;
    readonly limit: number;
  }): AbandonedRetry[];
  removeRetry(input: { readonly seq: number }): null;
}

/** The topics in which messages wait for their next attempt begin so. The database has it: it does not change. */
const RETRY_PREFIX = 'shelf ';

/** @param channel what tells the messages of one topic of a message queue from those of others */
export const retryTopic = (channel: string): string => `${RETRY_PREFIX}${channel}`;

export const waitingRetryTables = `
  create table if not exists retry_places (
    topic text not null, consumer text not null, channel text not null,
    primary key (topic, consumer)
  ) without rowid;
`;

export function waitingRetryCalls(database: DatabaseSync): WaitingRetryCalls {
  const sql = (text: string) => database.prepare(text);
  const places = sql(`select topic from retry_places where channel = ? and consumer = ?
    and topic not in (select value from json_each(?))`);
  const keepPlace = sql(`insert into retry_places (topic, consumer, channel) values (?, ?, ?)
    on conflict do update set channel = excluded.channel`);
  const forgetPlace = sql('delete from retry_places where topic = ? and consumer = ?');
  const addConsumer = sql('insert or ignore into consumers (topic, name, subscribed) values (?, ?, 0)');
  const consumerId = sql('select id from consumers where topic = ? and name = ?');
  // What is leased is with somebody, who settles it where it is.
  const moveEvents = sql(
    'update events set topic = ? where seq in (select seq from deliveries where consumer = ? and leased = 0)',
  );
  const moveDeliveries = sql('update deliveries set consumer = ? where consumer = ? and leased = 0');
  const isAwaited = sql('select 1 from deliveries where consumer = ? limit 1');
  const abandoned = sql(`
    select deliveries.seq, consumers.topic, consumers.name, attempt, failures, event, checksum, channel
      from consumers join deliveries on deliveries.consumer = consumers.id
      join events on events.seq = deliveries.seq
      left join retry_places on retry_places.topic = consumers.topic and retry_places.consumer = consumers.name
      where substr(consumers.topic, 1, ${RETRY_PREFIX.length}) = '${RETRY_PREFIX}' and (leased = 0 or due <= ?)
      and (consumers.topic, consumers.name) not in
        (select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(?))
      order by deliveries.seq limit ?`);
  const removeDelivery = sql('delete from deliveries where seq = ?');
  const removeEvent = sql('delete from events where seq = ?');

  return {
    takeOverRetries({ channel, consumer, others, topic }) {
      addConsumer.run(topic, consumer);
      const to = Number(consumerId.get(topic, consumer)?.['id']);
      let moved = 0;
      for (const place of places.all(channel, consumer, JSON.stringify([topic, ...others]))) {
        const before = String(place['topic']);
        const from = consumerId.get(before, consumer)?.['id'];
        if (from !== undefined) {
          moveEvents.run(topic, from);
          moved += Number(moveDeliveries.run(to, from).changes);
        }
        if (from === undefined || isAwaited.get(from) === undefined) forgetPlace.run(before, consumer);
      }
      keepPlace.run(topic, consumer, channel);
      return moved;
    },
    abandonedRetries: ({ limit, now, used }) =>
      abandoned.all(now, JSON.stringify(used), limit).map((row) => {
        const event = row['event'] instanceof Uint8Array ? row['event'] : new Uint8Array();
        return {
          seq: Number(row['seq']),
          topic: String(row['topic']),
          consumer: String(row['name']),
          channel: String(row['channel'] ?? ''),
          event,
          intact: crc32(event) === row['checksum'],
          attempts: Number(row['attempt']) - 1,
          failures: failuresOf(row['failures']),
        };
      }),
    removeRetry({ seq }) {
      removeDelivery.run(seq);
      removeEvent.run(seq);
      return null;
    },
  };
}
