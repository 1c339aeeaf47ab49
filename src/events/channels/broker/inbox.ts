import type { BrokerMessage } from './broker.ts';
import { createSettledMessages } from './settled-messages.ts';

/** How many messages are remembered that a lost connection took along. */
const MOST_UNTOUCHED = 10_000;

/** A message that waits to be received, or is held by the consumer. */
export interface InboxEntry {
  /** The handle to settle it with: that of its latest delivery. */
  message: BrokerMessage;
  /** Leases that ended here. */
  crashes: number;
  /**
   * Whether it may have ended a process before: somebody had it and did not settle it. Null where the broker cannot tell. Never
   * for what only waited here.
   */
  readonly suspect: boolean | null;
  /** Whether the database counts its crashes. */
  counted: boolean;
  /** When its lease ends. */
  until: number;
}

interface Entry extends InboxEntry {
  /** The order in which the broker handed it over. */
  readonly place: number;
}

/** What a broker has handed over for one consumer: in order, and leased to the consumer. All of it is gone with the process. */
export interface Inbox {
  /** @returns false when the message is there already, or the consumer is done with it */
  add(message: BrokerMessage): boolean;
  receive(limit: number, leaseMs: number): { readonly id: string; readonly entry: InboxEntry }[];
  renew(ids: readonly string[], leaseMs: number): void;
  /** What the consumer has in hand by this id, or null. */
  entryOf(id: string): InboxEntry | null;
  remove(id: string): void;
  release(id: string): void;
  /**
   * The message is done with. It is remembered for a while: a broker that could not be told, or that ended before it wrote that
   * down, delivers it again.
   */
  settled(message: BrokerMessage): void;
  /** Milliseconds until a message may be due; null when none waits. */
  nextDueIn(): number | null;
  depth(): { readonly waiting: number; readonly held: number };
  /** The connection was lost: the broker delivers again what it does not know to be settled. */
  disconnected(): void;
  /** Everything that is not settled, in the order in which it came. */
  clear(): BrokerMessage[];
}

/** @param now milliseconds of any clock that only goes forward */
export function createInbox(now: () => number): Inbox {
  const waiting: Entry[] = [];
  const entries = new Map<string, Entry>();
  const settled = createSettledMessages();
  /** Positions of what only waited here when the connection was lost. */
  const untouched = new Set<string>();
  let number = 0;
  let place = 0;

  /** What waits or is held, by position. */
  const present = new Map<string, Entry>();
  /** What comes back keeps its place among the others. */
  const putBack = (entry: Entry) => {
    const index = waiting.findIndex((other) => other.place > entry.place);
    waiting.splice(index === -1 ? waiting.length : index, 0, entry);
  };
  /** What the consumer was too slow with waits again. */
  const reclaim = () => {
    const late = [...entries].filter(([, { until }]) => until <= now());
    for (const [id] of late) entries.delete(id);
    for (const [, entry] of late) {
      entry.crashes += 1;
      putBack(entry);
    }
  };
  return {
    add(message) {
      const { position, redelivered } = message;
      if (redelivered && position !== null) {
        const entry = present.get(position);
        if (entry !== undefined) {
          entry.message = message;
          return false;
        }
        if (settled.has(message)) {
          // Otherwise it comes once more.
          void message.ack().catch(() => {});
          return false;
        }
      }
      const { unsettledBefore } = message;
      const suspect = position !== null && untouched.delete(position) ? false : unsettledBefore;
      place += 1;
      const entry: Entry = { message, crashes: 0, suspect, counted: false, until: 0, place };
      if (position !== null) present.set(position, entry);
      waiting.push(entry);
      return true;
    },
    receive(limit, leaseMs) {
      reclaim();
      return waiting.splice(0, limit).map((entry) => {
        number += 1;
        const id = String(number);
        entry.until = now() + leaseMs;
        entries.set(id, entry);
        return { id, entry };
      });
    },
    renew(ids, leaseMs) {
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry !== undefined) entry.until = now() + leaseMs;
      }
    },
    entryOf: (id) => entries.get(id) ?? null,
    remove(id) {
      const entry = entries.get(id);
      entries.delete(id);
      if (entry?.message.position != null) present.delete(entry.message.position);
    },
    release(id) {
      const entry = entries.get(id);
      if (entry === undefined) return;
      entries.delete(id);
      putBack(entry);
    },
    settled: settled.add,
    nextDueIn() {
      if (waiting.length > 0) return 0;
      let next = Number.POSITIVE_INFINITY;
      for (const { until } of entries.values()) next = Math.min(next, until);
      return next === Number.POSITIVE_INFINITY ? null : Math.max(0, next - now());
    },
    depth: () => ({ waiting: waiting.length, held: entries.size }),
    disconnected() {
      for (const { message, suspect } of waiting.splice(0)) {
        const { position } = message;
        if (position === null) continue;
        present.delete(position);
        if (suspect === false && untouched.size < MOST_UNTOUCHED) untouched.add(position);
      }
    },
    clear() {
      const all = [...entries.values(), ...waiting]
        .sort((a, b) => a.place - b.place)
        .map(({ message }) => message);
      entries.clear();
      present.clear();
      waiting.length = 0;
      return all;
    },
  };
}
