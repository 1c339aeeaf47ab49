import { type CloudEvent, eventSize } from '../cloudevents/event.ts';
import { type Channel, ChannelFull, type Delivery } from './channel.ts';

const defaultBytes = 16 * 1_048_576;

interface Waiting {
  readonly event: CloudEvent;
  readonly size: number;
  due: number;
  attempts: number;
}

/** Deliveries of one consumer, by the number of the event. */
type Queue = Map<number, Waiting>;

export interface MemoryInput {
  now: () => number;
  /** Of the events that are held, each counted once for each consumer. */
  maxBytes?: number;
}

/** A channel in this process. What it holds is lost when the process ends. */
export function createMemoryChannel({ maxBytes = defaultBytes, now }: MemoryInput): Channel {
  const consumers = new Map<string, Queue>();
  const subscribed = new Set<string>();
  const unclaimed: Queue = new Map();
  const listeners = new Set<() => void>();
  let number = 0;
  let bytes = 0;
  const queueOf = (consumer: string): Queue => consumers.get(consumer) ?? new Map();
  return {
    async publish(event) {
      const size = eventSize(event);
      const queues = subscribed.size === 0 ? [unclaimed] : [...subscribed].map(queueOf);
      if (bytes + size * queues.length > maxBytes)
        throw new ChannelFull(`The channel holds ${maxBytes} bytes at most`);
      number += 1;
      for (const queue of queues) queue.set(number, { event, size, due: now(), attempts: 0 });
      bytes += size * queues.length;
      for (const listener of listeners) listener();
    },
    async subscribe(consumer) {
      if (subscribed.has(consumer)) return;
      subscribed.add(consumer);
      consumers.set(consumer, new Map([...queueOf(consumer), ...unclaimed]));
      unclaimed.clear();
    },
    async endOtherSubscriptions(names) {
      for (const consumer of subscribed) if (!names.has(consumer)) subscribed.delete(consumer);
    },
    async receive(consumer, limit, leaseMs) {
      const deliveries: Delivery[] = [];
      for (const [id, waiting] of queueOf(consumer)) {
        if (deliveries.length === limit) break;
        if (waiting.due > now()) continue;
        waiting.due = now() + leaseMs;
        waiting.attempts += 1;
        deliveries.push({ id, event: waiting.event, attempt: waiting.attempts });
      }
      return deliveries;
    },
    async ack(consumer, id) {
      const waiting = queueOf(consumer).get(id);
      if (waiting !== undefined) bytes -= waiting.size;
      queueOf(consumer).delete(id);
    },
    async retry(consumer, id, delayMs) {
      const waiting = queueOf(consumer).get(id);
      if (waiting !== undefined) waiting.due = now() + delayMs;
    },
    async release(consumer, id) {
      const waiting = queueOf(consumer).get(id);
      if (waiting === undefined) return;
      waiting.due = now();
      waiting.attempts -= 1;
    },
    async nextDueIn(consumer) {
      const dues = [...queueOf(consumer).values()].map(({ due }) => due);
      return dues.length === 0 ? null : Math.max(0, dues.reduce((a, b) => Math.min(a, b)) - now());
    },
    onPublish(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      listeners.clear();
    },
  };
}
