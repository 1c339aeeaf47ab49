import type { DatabaseSync } from 'node:sqlite';
import type { ConsumerKey } from '../sqlite/channel-calls.ts';

/** A message of a broker that is about to be handled. */
export interface StartedMessage {
  /** What names it at each of its deliveries. */
  readonly position: string;
  /** How many deliveries of it ended without an outcome, where nothing is counted yet. */
  readonly crashes: number;
}

/**
 * How often the handling of a message ended without an outcome, for brokers, which count every message that they hand over and not
 * only those that were handled. Times in milliseconds since the epoch.
 */
export interface CrashCountCalls {
  /** From now on the end of the process is a crash of these messages. @returns their crashes so far, in the same order */
  beginMessages(
    input: ConsumerKey & { readonly messages: readonly StartedMessage[]; readonly now: number },
  ): number[];
  /** The message was given back: nothing happened to it. */
  releaseMessage(input: ConsumerKey & { readonly position: string }): null;
  /** The message is done with, or no longer the broker's. */
  forgetMessage(input: ConsumerKey & { readonly position: string }): null;
}

/** Counts of messages that never came back. */
const KEPT_MS = 7 * 86_400_000;

/** Makes the table, and counts a crash for what the process before this one was handling. */
export function prepareCrashCounts(database: DatabaseSync, now: number): void {
  database.exec(`
    create table if not exists crash_counts (
      topic text not null, consumer text not null, position text not null,
      crashes integer not null, handled integer not null, at integer not null,
      primary key (topic, consumer, position)
    ) without rowid;
    update crash_counts set crashes = crashes + 1, handled = 0 where handled = 1;
  `);
  database.prepare('delete from crash_counts where at < ?').run(now - KEPT_MS);
}

export function crashCountCalls(database: DatabaseSync): CrashCountCalls {
  const where = 'topic = ? and consumer = ? and position = ?';
  const begin = database.prepare(`insert into crash_counts values (?, ?, ?, ?, 1, ?)
    on conflict do update set handled = 1, at = excluded.at returning crashes`);
  const release = database.prepare(`update crash_counts set handled = 0 where ${where}`);
  const forget = database.prepare(`delete from crash_counts where ${where}`);
  return {
    beginMessages: ({ consumer, messages, now, topic }) =>
      messages.map(({ crashes, position }) =>
        Number(begin.get(topic, consumer, position, crashes, now)?.['crashes']),
      ),
    releaseMessage({ consumer, position, topic }) {
      release.run(topic, consumer, position);
      return null;
    },
    forgetMessage({ consumer, position, topic }) {
      forget.run(topic, consumer, position);
      return null;
    },
  };
}
