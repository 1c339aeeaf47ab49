import { type CloudEvent, eventSize } from '../../cloudevents/event.ts';
import { type Channel, ChannelFull, type Delivery } from '../channel.ts';
import type { FailedAttempt } from '../failed-attempt.ts';

const defaultBytes = 16 * 1_048_576;

interface Message {
  readonly event: CloudEvent;
  readonly size: number;
  /** When it may be received, or when its lease ends. */
  due: number;
  attempt: number;
  crashes: number;
  leased: boolean;
  failures: readonly FailedAttempt[];
}

/** Messages for one consumer, by the number of the event. */
type Queue = Map<string, Message>;

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
  const leasedMessage = (consumer: string, id: string): Message | null => {
    const message = queueOf(consumer).get(id);
    return message?.leased === true ? message : null;
  };
  return {
    async publish(event) {
      const size = eventSize(event);
      const queues = subscribed.size === 0 ? [unclaimed] : [...subscribed].map(queueOf);
      if (bytes + size * queues.length > maxBytes)
        throw new ChannelFull(`The channel holds ${maxBytes} bytes at most`);
      number += 1;
      for (const queue of queues)
        queue.set(String(number), {
          event,
          size,
          due: now(),
          attempt: 1,
          crashes: 0,
          leased: false,
          failures: [],
        });
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
      for (const [id, message] of queueOf(consumer)) {
        if (deliveries.length === limit) break;
        if (message.due > now()) continue;
        if (message.leased) message.crashes += 1;
        message.due = now() + leaseMs;
        message.leased = true;
        const { attempt, crashes, event, failures } = message;
        deliveries.push({ id, content: { ok: true, event }, attempt, crashes, failures });
      }
      return deliveries;
    },
    async renew(consumer, ids, leaseMs) {
      for (const id of ids) {
        const message = leasedMessage(consumer, id);
        if (message !== null) message.due = now() + leaseMs;
      }
    },
    async ack(consumer, id) {
      const message = leasedMessage(consumer, id);
      if (message === null) return;
      bytes -= message.size;
      queueOf(consumer).delete(id);
    },
    async retry(consumer, id, delayMs, failures) {
      const message = leasedMessage(consumer, id);
      if (message === null) return;
      message.due = now() + delayMs;
      message.leased = false;
      message.attempt += 1;
      message.failures = failures;
      message.crashes = 0;
    },
    async release(consumer, id) {
      const message = leasedMessage(consumer, id);
      if (message === null) return;
      message.due = now();
      message.leased = false;
    },
    async nextDueIn(consumer) {
      let next = Number.POSITIVE_INFINITY;
      for (const { due } of queueOf(consumer).values()) next = Math.min(next, due);
      return next === Number.POSITIVE_INFINITY ? null : Math.max(0, next - now());
    },
    onArrival(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async depth(consumer) {
      let heldCount = 0;
      for (const { leased } of queueOf(consumer).values()) heldCount += leased ? 1 : 0;
      return { waiting: queueOf(consumer).size - heldCount, held: heldCount };
    },
    problem: () => null,
    degradations: () => [],
    warnings: () => [],
    async close() {
      listeners.clear();
    },
  };
}
