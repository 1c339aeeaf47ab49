import { describe, type Log } from '../../lib/log.ts';
import type { Storage } from '../config/config.ts';
import type { Spool } from './spool.ts';

const AGAIN_MS = 3_000;

/**
 * A storage that is elsewhere, and may not be reached yet: it is opened again and again, and takes nothing until then. What it had
 * before goes out when it is open.
 */
export function createLateSpool(
  storage: Storage,
  open: (storage: Storage) => Promise<Spool>,
  log: Pick<Log, 'error' | 'info'>,
): Spool {
  const listeners = new Set<() => void>();
  let wanted = storage;
  let opened: Spool | null = null;
  let problem: string | null = 'it is being opened';
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const attempt = async (): Promise<void> => {
    try {
      const spool = await open(wanted);
      if (closed) return spool.close();
      if (problem !== 'it is being opened') log.info({}, 'a storage of events is open');
      spool.onAdded(tell);
      opened = spool;
      tell();
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      log.error({ error: describe(error) }, 'a storage of events cannot be opened, and accepts no events');
      if (!closed) timer = setTimeout(again, AGAIN_MS);
    }
  };
  const again = () => {
    attempting = attempt();
  };
  let attempting = attempt();
  return {
    durable: true,
    add: async (event, channels, waitMs) =>
      opened === null ? 'unavailable' : opened.add(event, channels, waitMs),
    next: async (channel, limit) => opened?.next(channel, limit) ?? [],
    done: (channel, sequences) => opened?.done(channel, sequences),
    waiting: (channel) => opened?.waiting(channel) ?? 0,
    resize(next) {
      wanted = next;
      opened?.resize(next);
    },
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status: () => opened?.status() ?? { events: 0, bytes: 0, maxBytes: wanted.bytes, damaged: 0, problem },
    async close() {
      closed = true;
      clearTimeout(timer);
      await attempting;
      await opened?.close();
    },
  };
}
