import type { CloudEvent } from '../../cloudevents/event.ts';
import type { PublishResult } from './publisher.ts';

/** An event that a source of this gateway published, with the extension that names the source. */
export interface TailedEvent {
  readonly event: CloudEvent;
  readonly sourceId: string;
  readonly result: PublishResult['kind'];
}

/** Shows events to those who watch. Costs nothing while nobody does. */
export interface Tail {
  published(tailed: TailedEvent): void;
  /** Calls the listener, which must not throw, for each event. @returns what ends that */
  listen(listener: (tailed: TailedEvent) => void): () => void;
}

export function createTail(): Tail {
  const listeners = new Set<(tailed: TailedEvent) => void>();
  return {
    published(tailed) {
      for (const listener of listeners) listener(tailed);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
