import { type CloudEvent, eventSize } from '../../cloudevents/event.ts';
import type { DropReports } from './drop-reports.ts';
import type { Publisher, PublishResult } from './publisher.ts';

/** What may wait to be published, beyond which new events are dropped: a full disk must not fill the memory. */
const MOST_EVENTS = 10_000;
const MOST_BYTES = 16 * 1_048_576;

/** Publishes what the gateway itself tells of, by each of its sources of the kind `gateway`. */
export interface OwnEvents {
  /** Whether there is any router for them. */
  hasRouters(): boolean;
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

export function createOwnEvents(drops: Pick<DropReports, 'add'>): OwnEvents {
  let publishers: readonly Publisher[] = [];
  const queue: { readonly event: CloudEvent; readonly size: number }[] = [];
  let publishing = 0;
  let bytes = 0;
  let emitted = 0;
  let dropped = 0;
  let closing: (() => void) | null = null;

  const drop = (reason: string) => {
    dropped += 1;
    drops.add('own events', reason);
  };
  const publish = async (publisher: Publisher, event: CloudEvent): Promise<void> => {
    const result = await publisher.publish(event);
    if (lost(result)) drop(result.kind === 'rejected' ? result.reason : 'the storage is full');
  };
  const flush = () => {
    for (const { event, size } of queue.splice(0)) {
      publishing += 1;
      void Promise.all(publishers.map((publisher) => publish(publisher, event))).finally(() => {
        publishing -= 1;
        bytes -= size;
        if (publishing + queue.length === 0) closing?.();
      });
    }
  };
  return {
    hasRouters: () => publishers.length > 0,
    emit(event) {
      if (publishers.length === 0) return;
      emitted += 1;
      const size = eventSize(event);
      if (closing !== null) return drop('the engine is closing');
      if (queue.length + publishing >= MOST_EVENTS || bytes + size > MOST_BYTES)
        return drop(`${queue.length + publishing} events wait to be published`);
      bytes += size;
      queue.push({ event, size });
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
