import { type CloudEvent, eventSize } from '../cloudevents/event.ts';
import type { Storage } from '../config/config.ts';
import { createRoom } from './room.ts';
import type { Spool } from './spool.ts';

interface Entry {
  readonly sequence: number;
  readonly event: CloudEvent;
  readonly bytes: number;
  /** Channels that do not have it yet. */
  channelsLeft: number;
}

/** A storage in the memory of this process. What it holds is lost when the process ends. */
export function createMemorySpool(storage: Storage): Spool {
  const room = createRoom(storage);
  const queues = new Map<string, Map<number, Entry>>();
  const listeners = new Set<() => void>();
  let sequence = 0;
  let events = 0;
  let closed = false;
  const queueOf = (channel: string): Map<number, Entry> => {
    const queue = queues.get(channel) ?? new Map<number, Entry>();
    queues.set(channel, queue);
    return queue;
  };
  return {
    durable: false,
    async add(event, channels, waitMs) {
      if (closed) return 'unavailable';
      const bytes = eventSize(event);
      const outcome = await room.take(bytes, waitMs);
      if (outcome !== 'kept') return outcome;
      sequence += 1;
      events += 1;
      const entry: Entry = { sequence, event, bytes, channelsLeft: channels.length };
      for (const channel of channels) queueOf(channel).set(sequence, entry);
      for (const listener of listeners) listener();
      return 'kept';
    },
    async next(channel, limit) {
      const oldest: Entry[] = [];
      for (const entry of queueOf(channel).values()) {
        if (oldest.length === limit) break;
        oldest.push(entry);
      }
      return oldest;
    },
    done(channel, sequences) {
      for (const one of sequences) {
        const entry = queueOf(channel).get(one);
        if (entry === undefined) continue;
        queueOf(channel).delete(one);
        entry.channelsLeft -= 1;
        if (entry.channelsLeft > 0) continue;
        events -= 1;
        room.giveBack(entry.bytes);
      }
    },
    waiting: (channel) => queues.get(channel)?.size ?? 0,
    resize: room.resize,
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status: () => ({ events, bytes: room.used(), maxBytes: room.size(), damaged: 0, problem: null }),
    async close() {
      closed = true;
      listeners.clear();
      room.close();
    },
  };
}
