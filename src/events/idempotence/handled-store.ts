import type { EventDatabase } from '../database/event-database.ts';
import type { HandledKey, HandlingOutcome } from './handled-calls.ts';

/** Remembers what became of events. */
export interface HandledStore {
  find(key: HandledKey): Promise<HandlingOutcome | null>;
  /** Remembers it for `ms` milliseconds. */
  mark(key: HandledKey, handled: HandlingOutcome, ms: number): Promise<void>;
  /**
   * Claims an event for this gateway, until it is marked or released, or the gateway dies. `claim`, `hasClaim` and `release` are
   * absent where no other gateway has the store.
   * @param replayed what is a dead letter may be handled again
   * @returns what became of it, or `busy` while another gateway handles it
   */
  claim?(key: HandledKey, replayed: boolean): Promise<'claimed' | 'busy' | HandlingOutcome>;
  /** Whether this gateway can be sure that no other one gets a claim that it made. */
  hasClaim?(key: HandledKey): boolean;
  /** Ends a claim. */
  release?(key: HandledKey): Promise<void>;
}

/**
 * In a database of events, for as long as was asked for.
 * @param now milliseconds since the epoch
 */
export function createDatabaseHandled(database: Pick<EventDatabase, 'ask'>, now: () => number): HandledStore {
  return {
    find: (key) => database.ask('findHandled', { ...key, now: now() }),
    async mark(key, handled, ms) {
      const at = now();
      await database.ask('markHandled', { ...key, ...handled, now: at, until: at + ms });
    },
  };
}

const MOST_KEYS = 200_000;

interface Entry extends HandlingOutcome {
  readonly until: number;
}

/** In this process: the last 200,000 events. For channels that are lost with the process all the same. */
export function createMemoryHandled(now: () => number, mostKeys: number = MOST_KEYS): HandledStore {
  const entries = new Map<string, Entry>();
  const nameOf = ({ id, source, trigger }: HandledKey) => JSON.stringify([trigger, source, id]);
  return {
    async find(key) {
      const entry = entries.get(nameOf(key));
      return entry === undefined || entry.until <= now() ? null : entry;
    },
    async mark(key, { fingerprint, outcome }, ms) {
      const name = nameOf(key);
      entries.delete(name);
      entries.set(name, { outcome, fingerprint, until: now() + ms });
      const [oldest] = entries;
      if (oldest !== undefined && (entries.size > mostKeys || oldest[1].until <= now()))
        entries.delete(oldest[0]);
    },
  };
}
