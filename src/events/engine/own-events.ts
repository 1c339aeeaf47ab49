import type { Log } from '../../lib/log.ts';
import { type CloudEvent, eventSize } from '../cloudevents/event.ts';
import type { Emitter } from '../types/emitter.ts';
import type { Publisher, PublishResult } from './publisher.ts';

/** What may wait to be published, beyond which new events are dropped: a full disk must not fill the memory. */
const MOST_EVENTS = 10_000;
const MOST_BYTES = 16 * 1_048_576;
/** How often dropped events are told of in the log. */
const DROPPED_TOLD_MS = 60_000;

/** Publishes what the gateway itself tells of, by each of its sources of the kind `gateway`. */
export interface OwnEvents {
  /** Whether there is any router for them. */
  wanted(): boolean;
  /** Returns at once, without work that takes time, and never throws. */
  emit(event: CloudEvent): void;
  replacePublishers(publishers: readonly Publisher[]): void;
  status(): OwnEventsStatus;
  /** Drops new events, and waits so many milliseconds for those that were emitted. */
  close(graceMs: number): Promise<void>;
}

/** Counters of events and sources since it was made: an event that one of two sources loses counts once. */
export interface OwnEventsStatus {
  readonly emitted: number;
  readonly dropped: number;
  /** Emitted and not published yet. */
  readonly waiting: number;
}

export interface OwnEventsInput {
  /** Tells of events that were dropped. */
  emitter: Emitter;
  log: Log;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export function createOwnEvents({ emitter, log, now }: OwnEventsInput): OwnEvents {
  let publishers: readonly Publisher[] = [];
  const queue: CloudEvent[] = [];
  let publishing = 0;
  let bytes = 0;
  let emitted = 0;
  let dropped = 0;
  let untold = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  let closing: (() => void) | null = null;

  const drop = (reason: string) => {
    dropped += 1;
    untold += 1;
    if (now() - toldAt < DROPPED_TOLD_MS) return;
    toldAt = now();
    log.error({ dropped: untold, reason }, 'events are dropped');
    const where = 'own events';
    emitter.emit('event.dropped', { subject: where, data: { where, count: untold, reason } });
    untold = 0;
  };
  const publish = async (publisher: Publisher, event: CloudEvent): Promise<void> => {
    const result = await publisher.publish(event);
    if (lost(result)) drop(result.kind === 'rejected' ? result.reason : 'the storage is full');
  };
  const flush = () => {
    for (const event of queue.splice(0)) {
      publishing += 1;
      void Promise.all(publishers.map((publisher) => publish(publisher, event))).finally(() => {
        publishing -= 1;
        bytes -= eventSize(event);
        if (publishing + queue.length === 0) closing?.();
      });
    }
  };
  return {
    wanted: () => publishers.length > 0,
    emit(event) {
      if (publishers.length === 0) return;
      emitted += 1;
      const size = eventSize(event);
      if (closing !== null) return drop('the engine is closing');
      if (queue.length + publishing >= MOST_EVENTS || bytes + size > MOST_BYTES)
        return drop(`${queue.length + publishing} events wait to be published`);
      bytes += size;
      queue.push(event);
      // Whoever emits is answering a request, and goes on first.
      if (queue.length === 1) setImmediate(flush);
    },
    replacePublishers(next) {
      publishers = next;
    },
    status: () => ({ emitted, dropped, waiting: queue.length + publishing }),
    close: (graceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        closing = () => {
          clearTimeout(timer);
          resolve();
        };
        if (publishing + queue.length === 0) closing();
      }),
  };
}

const lost = ({ kind }: PublishResult): boolean => kind === 'dropped' || kind === 'rejected';
