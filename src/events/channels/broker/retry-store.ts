import type { EventDatabase } from '../../database/event-database.ts';
import { storedEvent } from '../../database/stored-event.ts';
import type { Channel, Content } from '../channel.ts';
import type { FailedAttempt } from '../failed-attempt.ts';
import { createSqliteChannel } from '../sqlite/sqlite-channel.ts';
import { retryTopic } from './waiting-retry-calls.ts';

/**
 * Where messages of a broker wait for their next attempt: in the database of this gateway, for brokers cannot delay a message,
 * or not for long, or not many. From the first retry on, a message is no longer the broker's.
 */
export interface RetryStore
  extends Pick<Channel, 'receive' | 'renew' | 'ack' | 'retry' | 'release' | 'nextDueIn' | 'depth'>,
    Pick<Channel, 'subscribe' | 'endOtherSubscriptions'> {
  /** Resolves when the message is on the disk. It comes after `delayMs`, as the attempt. */
  put(
    consumer: string,
    content: Content,
    attempt: number,
    delayMs: number,
    failures: readonly FailedAttempt[],
  ): Promise<void>;
  isSubscribed(consumer: string): Promise<boolean>;
  /** Consumers that this gateway subscribed, of which the retry store keeps a list, but for those given. */
  otherSubscribers(consumers: ReadonlySet<string>): Promise<readonly string[]>;
}

/** @param channel what tells this channel's messages from those of others */
export function createRetryStore(database: EventDatabase, channel: string, now: () => number): RetryStore {
  const topic = retryTopic(channel);
  const rows = createSqliteChannel(database, topic, now);
  return {
    ...rows,
    async put(consumer, content, attempt, delayMs, failures) {
      const event = content.ok ? storedEvent(content.event) : content.bytes;
      await database.ask('put', { topic, consumer, event, attempt, due: now() + delayMs, failures });
    },
    isSubscribed: (consumer) => database.ask('isSubscribed', { topic, consumer }),
    otherSubscribers: (consumers) => database.ask('otherSubscribers', { topic, consumers: [...consumers] }),
  };
}
