import type { EventDatabase } from '../../database/event-database.ts';
import { eventOfStored, storedEvent } from '../../database/stored-event.ts';
import type { Channel, Content, Delivery } from '../channel.ts';
import type { StoredDelivery } from './channel-calls.ts';

/**
 * A topic in a database of events.
 * @param now milliseconds since the epoch
 */
export function createSqliteChannel(database: EventDatabase, topic: string, now: () => number): Channel {
  const listeners = new Set<() => void>();
  return {
    async publish(event) {
      await database.ask('publish', { topic, event: storedEvent(event) });
      for (const listener of listeners) listener();
    },
    async subscribe(consumer) {
      await database.ask('subscribe', { topic, consumer });
    },
    async endOtherSubscriptions(names) {
      await database.ask('endOtherSubscriptions', { topic, consumers: [...names] });
    },
    async receive(consumer, limit, leaseMs) {
      const at = now();
      const rows = await database.ask('receive', { topic, consumer, limit, now: at, until: at + leaseMs });
      return rows.map(deliveryOf);
    },
    async renew(consumer, ids, leaseMs) {
      await database.ask('renew', { topic, consumer, seqs: ids.map(Number), until: now() + leaseMs });
    },
    async ack(consumer, id) {
      await database.ask('ack', { topic, consumer, seq: Number(id) });
    },
    async retry(consumer, id, delayMs, failures) {
      await database.ask('retry', { topic, consumer, seq: Number(id), due: now() + delayMs, failures });
    },
    async release(consumer, id) {
      await database.ask('release', { topic, consumer, seq: Number(id) });
    },
    async nextDueIn(consumer) {
      const due = await database.ask('nextDue', { topic, consumer });
      return due === null ? null : Math.max(0, due - now());
    },
    onArrival(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    depth: (consumer) => database.ask('depth', { topic, consumer }),
    problem: () => null,
    degradations: () => [],
    warnings: () => [],
    async close() {
      listeners.clear();
    },
  };
}

const deliveryOf = ({ attempt, crashes, event, failures, intact, seq }: StoredDelivery): Delivery => ({
  id: String(seq),
  content: contentOf(event, intact),
  attempt,
  crashes,
  failures,
});

function contentOf(bytes: Uint8Array, intact: boolean): Content {
  if (!intact) return { ok: false, bytes, problem: 'The stored bytes are damaged' };
  const event = eventOfStored(bytes);
  return event === null ? { ok: false, bytes, problem: 'The bytes are no event' } : { ok: true, event };
}
