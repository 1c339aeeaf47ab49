import { setImmediate } from 'node:timers/promises';
import type { Log } from '../../lib/log.ts';
import type { Emitter } from '../types/emitter.ts';

/** What a channel does without being asked. It may fail while everything else works. */
export type BackgroundTask = keyof typeof failures;

/** What it means when a task fails. */
const failures = {
  'assign-unclaimed': 'Events that came before the first subscription are not delivered',
  'commit-handled': 'The message queue is not told which messages are handled, and delivers them again later',
  'count-crashes': 'An event that ends the process is not recognized',
  'count-waiting': 'How many messages wait is not known',
  'delete-handled': 'Messages that every trigger has handled are not deleted, and collect',
  'settle-handled': 'The message queue keeps messages that are handled, and delivers them again',
  'renew-leases': 'Messages in hand may be given to another gateway too, and those of dead gateways wait',
} as const;

export interface BackgroundTasks {
  /**
   * Does a part of a task. When it fails, the channel is degraded until the same task works again; what fails because the
   * connection was lost says nothing. Never rejects. @returns null when it failed
   */
  run<T>(task: BackgroundTask, work: () => Promise<T>): Promise<T | null>;
  /** What fails at the moment, in sentences. */
  problems(): readonly string[];
}

export interface BackgroundTasksInput {
  /** What the configuration calls the channel. */
  readonly channelId: string;
  readonly log: Log;
  /** Tells of the first failure of a task, and of its end. */
  readonly emitter: Emitter;
  /** Whether the channel is connected. */
  isConnected(): boolean;
  /** The text of an error, without secrets. */
  textOf(error: unknown): string;
}

export function createBackgroundTasks(input: BackgroundTasksInput): BackgroundTasks {
  const { channelId, emitter, isConnected, log, textOf } = input;
  const failing = new Map<BackgroundTask, string>();
  const succeeded = (task: BackgroundTask) => {
    if (!failing.delete(task)) return;
    log.info({ channel: channelId, task }, 'a background task of a channel works again');
    emitter.emit('channel.recovered', {
      subject: channelId,
      data: { channel: channelId, task },
    });
  };
  const failed = (task: BackgroundTask, reason: string) => {
    const isNew = !failing.has(task);
    failing.set(task, reason);
    if (!isNew) return;
    log.warn(
      { channel: channelId, task, error: reason, effect: failures[task] },
      'a background task of a channel fails',
    );
    emitter.emit('channel.degraded', { subject: channelId, data: { channel: channelId, task } });
  };
  return {
    async run(task, work) {
      try {
        const result = await work();
        succeeded(task);
        return result;
      } catch (error) {
        // A connection that ends tells its calls first.
        await setImmediate();
        if (isConnected()) failed(task, textOf(error));
        return null;
      }
    },
    problems: () => [...failing].map(([task, reason]) => `${failures[task]}: ${reason}`),
  };
}
