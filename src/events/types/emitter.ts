import type { CloudEvent } from '../cloudevents/event.ts';
import { type EventName, eventTypes } from './catalogue.ts';
import { buildEvent, type Occurrence } from './own-event.ts';

export type { Occurrence } from './own-event.ts';

/** Where the gateway's own events come from. */
export interface Emitter {
  /** Whether anybody subscribed to events of this name. If not, the caller need not collect their data. */
  wants(name: EventName): boolean;
  /**
   * Emits an event. Returns at once and never throws: the event is made and handed on after the work that is under way, and
   * dropped where too many wait.
   */
  emit<Name extends EventName>(name: Name, occurrence: Occurrence<Name>): void;
}

export interface EmitterInput {
  /** Names this gateway in the `source` of its events. */
  instance: string;
  wants(name: EventName): boolean;
  /** Takes an event at once, as `Engine.emit` does. */
  send(event: CloudEvent): void;
  /** Told of events that were not handed on, at most once for all that waited together. */
  onDropped(count: number, error: unknown): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Stands for an emitter where nobody wants events. */
export const silentEmitter: Emitter = { wants: () => false, emit: () => {} };

interface Waiting {
  readonly name: EventName;
  readonly occurrence: Occurrence<EventName>;
  readonly at: number;
}

/** How many events wait to be built; further ones are dropped. */
const MOST_WAITING = 10_000;

export function createEmitter({ instance, now, onDropped, send, wants }: EmitterInput): Emitter {
  let waiting: Waiting[] = [];
  let dropped = 0;
  const flush = () => {
    const batch = waiting;
    waiting = [];
    let fault: unknown = dropped > 0 ? new Error(`${MOST_WAITING} events wait already`) : null;
    for (const { at, name, occurrence } of batch) {
      try {
        send(buildEvent(eventTypes[name].area, name, occurrence, { at, instance }));
      } catch (error) {
        fault = error;
        dropped += 1;
      }
    }
    if (dropped > 0) onDropped(dropped, fault);
    dropped = 0;
  };
  return {
    wants,
    emit(name, occurrence) {
      if (!wants(name)) return;
      if (waiting.length >= MOST_WAITING) {
        dropped += 1;
        return;
      }
      waiting.push({ name, occurrence, at: now() });
      if (waiting.length === 1) setImmediate(flush);
    },
  };
}
