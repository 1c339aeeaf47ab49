import type { EventDatabase } from '../../database/event-database.ts';
import type { BackgroundTasks } from '../background-tasks.ts';
import type { InboxEntry } from './inbox.ts';

/**
 * How often messages ended the process that was handling them. Where the broker says which messages somebody had before, and did
 * not settle, only those are written: a message that comes for the first time costs nothing.
 */
export interface CrashCounts {
  /** These messages are about to be handled. Never rejects. @returns how often each of them crashed before */
  begin(consumer: string, entries: readonly InboxEntry[]): Promise<readonly number[]>;
  /** A message was given back without being looked at. Never rejects. */
  release(consumer: string, entry: InboxEntry): Promise<void>;
  /** A message is done with, or waits in the retry store, which counts for itself. Never rejects. */
  forget(consumer: string, entry: InboxEntry): Promise<void>;
}

export interface CrashCountsInput {
  readonly database: Pick<EventDatabase, 'ask'>;
  /** What tells the messages of this topic from those of others. */
  readonly topic: string;
  readonly background: Pick<BackgroundTasks, 'run'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

export function createCrashCounts({ background, database, now, topic }: CrashCountsInput): CrashCounts {
  const attempt = <T>(work: () => Promise<T>) => background.run('count-crashes', work);
  const position = ({ message }: InboxEntry): string => message.position ?? '';
  return {
    async begin(consumer, entries) {
      const counted = entries.filter(
        ({ message, suspect }) => suspect !== false && message.position !== null,
      );
      if (counted.length === 0) return entries.map(({ crashes }) => crashes);
      const messages = counted.map((entry) => ({
        position: position(entry),
        crashes: entry.suspect === true ? 1 : 0,
      }));
      const before = await attempt(() =>
        database.ask('beginMessages', { topic, consumer, messages, now: now() }),
      );
      for (const entry of counted) entry.counted = before !== null;
      return entries.map((entry) => {
        const index = counted.indexOf(entry);
        return entry.crashes + (index === -1 ? 0 : (before?.[index] ?? messages[index]?.crashes ?? 0));
      });
    },
    async release(consumer, entry) {
      if (!entry.counted) return;
      await attempt(() => database.ask('releaseMessage', { topic, consumer, position: position(entry) }));
    },
    async forget(consumer, entry) {
      if (!entry.counted) return;
      await attempt(() => database.ask('forgetMessage', { topic, consumer, position: position(entry) }));
    },
  };
}
