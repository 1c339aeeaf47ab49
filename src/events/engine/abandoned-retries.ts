import type { Log } from '../../lib/log.ts';
import { retryTopic } from '../channels/broker/waiting-retry-calls.ts';
import type { EventDatabase } from '../database/event-database.ts';
import { eventOfStored } from '../database/stored-event.ts';
import { wrapBytes } from '../dead-letters/dead-letter.ts';
import type { DeadLetters } from '../dead-letters/store.ts';
import type { Emitter } from '../types/emitter.ts';
import { emitDeadLettered } from './emit-dead-lettered.ts';

export interface AbandonedRetriesInput {
  /** Where messages of brokers wait for their next attempt. */
  readonly database: Pick<EventDatabase, 'ask'>;
  readonly deadLetters: Pick<DeadLetters, 'add'>;
  readonly emitter: Emitter;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  now(): number;
}

const AT_ONCE = 100;
const REMOVED = 'Its trigger, channel or router was removed while it waited for another attempt';

/**
 * Makes dead letters on this machine's disk of the events that wait for another attempt by a trigger that no router leads to any
 * more. What there is no room for stays where it waits, and the log says so.
 * @param used the retry stores that triggers receive from: what tells a channel's messages from those of others, and the trigger
 * @throws Error when the database does not work
 */
export async function keepAbandonedRetries(
  { database, deadLetters, emitter, log, now }: AbandonedRetriesInput,
  used: readonly (readonly [retryStore: string, trigger: string])[],
): Promise<void> {
  const topics = used.map(([retryStore, trigger]) => [retryTopic(retryStore), trigger] as const);
  for (;;) {
    const retries = await database.ask('abandonedRetries', { used: topics, now: now(), limit: AT_ONCE });
    for (const { attempts, channel, consumer: trigger, event: bytes, failures, intact, seq } of retries) {
      const stored = intact ? eventOfStored(bytes) : null;
      const event = stored ?? wrapBytes(channel, String(seq), bytes);
      const reason = stored === null ? 'poison' : 'removed';
      const facts = {
        trigger,
        channel,
        reason,
        attempts,
        status: null,
        error: REMOVED,
        at: now(),
        failures,
      } as const;
      const added = await deadLetters.add({
        ...facts,
        event,
        delivery: `removed:${seq}`,
        place: 'local',
        // It takes no more room than it has taken where it waited.
        maxBytes: Number.MAX_SAFE_INTEGER,
        makeRoom: false,
      });
      const { id, source } = event.attributes;
      if (added.kind === 'full') {
        log.error(
          { trigger, channel, event: id, source },
          'events wait for a trigger that was removed, and there is no room to keep them as dead letters',
        );
        return;
      }
      await database.ask('removeRetry', { seq });
      emitDeadLettered(emitter, event, facts);
      log.warn(
        { trigger, channel, event: id, source, attempts, reason, error: REMOVED },
        'an event is a dead letter',
      );
    }
    if (retries.length < AT_ONCE) return;
  }
}
