import { describe, type Log } from '../../lib/log.ts';
import type { Channel } from '../channels/channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Route } from '../config/config.ts';
import { selected, sourceExtension } from './running-trigger.ts';

/** Events that wait to be published, beyond which new ones are dropped: a full disk must not fill the memory. */
const MOST_PUBLISHING = 10_000;
/** How often dropped events are told of in the log. */
const DROPPED_TOLD_MS = 60_000;

/** The channels of each source, with the routers that lead through them. */
export type Outlets = ReadonlyMap<string, ReadonlyMap<Channel, readonly Route[]>>;

/**
 * Publishes what the gateway itself tells of, for each of its sources. A channel gets only what some router selects: there is an
 * event for every request, and most gateways want few of them.
 */
export interface OwnEvents {
  /** Whether there is any router for them. */
  wanted(): boolean;
  /** Returns at once, and never throws. */
  emit(event: CloudEvent): void;
  replaceOutlets(outlets: Outlets): void;
  /** Takes no more events, and waits for those that are being published. */
  close(): Promise<void>;
}

export function createOwnEvents({ log, now }: { log: Log; now: () => number }): OwnEvents {
  const publishing = new Set<Promise<void>>();
  let outlets: Outlets = new Map();
  let dropped = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  const drop = (error: unknown) => {
    dropped += 1;
    if (now() - toldAt < DROPPED_TOLD_MS) return;
    toldAt = now();
    log.error({ dropped, error: describe(error) }, 'events are dropped');
    dropped = 0;
  };
  return {
    wanted: () => outlets.size > 0,
    emit(event) {
      for (const [sourceId, channels] of outlets) {
        const sent: CloudEvent = {
          attributes: { ...event.attributes, [sourceExtension]: sourceId },
          data: event.data,
        };
        for (const [channel, routes] of channels) {
          if (!selected(sent, routes)) continue;
          if (publishing.size >= MOST_PUBLISHING) {
            drop(new Error(`${MOST_PUBLISHING} events wait to be published`));
            continue;
          }
          const published = channel
            .publish(sent)
            .catch(drop)
            .finally(() => publishing.delete(published));
          publishing.add(published);
        }
      }
    },
    replaceOutlets(next) {
      outlets = next;
    },
    async close() {
      outlets = new Map();
      await Promise.all(publishing);
    },
  };
}
