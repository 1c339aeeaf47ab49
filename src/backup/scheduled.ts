import type { Config } from '../config.ts';
import { describe, type Log } from '../lib/log.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { ScheduledInput } from './back-up-when-due.ts';
import { gatewayStops } from './gateway-stops.ts';

/** How often the age of the newest one is looked at. */
const LOOKED_AT_MS = 15 * 60_000;

/**
 * Has backups made as the configuration says. A failed one is in the log and in the health of the scheduler.
 * @returns what ends the one that is being made, and resolves then
 */
export function scheduleBackups(
  schedule: Pick<Schedule, 'every'>,
  { everyHours, keep }: Config['backups'],
  input: Omit<ScheduledInput, 'everyMs' | 'keep' | 'now' | 'signal' | 'onError'> & {
    now(): number;
    log: Log;
  },
): () => Promise<void> {
  if (everyHours === null) return async () => {};
  const { log, now, ...rest } = input;
  const stopping = new AbortController();
  let working: Promise<unknown> = Promise.resolve();
  const stop = schedule.every({
    name: 'scheduled backup',
    everyMs: LOOKED_AT_MS,
    async run() {
      const { backUpWhenDue } = await import('./back-up-when-due.ts');
      const { signal } = stopping;
      const made = backUpWhenDue({
        ...rest,
        everyMs: everyHours * 3_600_000,
        keep,
        now: now(),
        signal,
        onError: (error) => log.warn({ error: describe(error) }, 'the lease of the scheduled backup is lost'),
      });
      working = made.catch(() => {});
      const name = await made;
      if (name !== null) log.info({ backup: name }, 'a scheduled backup is made');
    },
    onError: (error) => log.error({ error: describe(error) }, 'the scheduled backup failed'),
  });
  return async () => {
    stop();
    stopping.abort(gatewayStops());
    await working;
  };
}
