import type { CompiledExpression } from '../cesql/cesql.ts';
import { type Channel, ChannelFull } from '../channels/channel.ts';
import { createSqliteChannel } from '../channels/sqlite/sqlite-channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Storage } from '../config/config.ts';
import type { EventDatabase } from '../database/event-database.ts';
import { eventOfStored, storedEvent } from '../database/stored-event.ts';
import { NoSpace } from '../spool/log/segments.ts';
import type { ObjectStore } from '../spool/objects/object-store.ts';
import { type DeadLetter, shortError, withReason } from './dead-letter.ts';
import type { LetterCount, LetterFacts } from './letter-calls.ts';
import { databaseLetters, type LetterStore, type StoredLetter } from './letter-store.ts';
import { objectLetters } from './object-letters.ts';

/** Where dead letters are kept: on this machine's disk, in this process, or in a storage that outlives the machine. */
export type LetterPlace = Storage['type'];

export interface LetterSelection {
  /** Null: of all triggers. */
  readonly trigger?: string | null;
  /** Which letters, by the event's attributes and those that `withReason` adds. */
  readonly filter?: CompiledExpression | null;
}

export interface LetterPage {
  readonly letters: readonly DeadLetter[];
  /** Where the next page begins; null after the last. */
  readonly next: string | null;
}

export interface NewDeadLetter extends LetterFacts {
  readonly event: CloudEvent;
  /** The channel's handle of the message. */
  readonly delivery: string;
  readonly place: LetterPlace;
  readonly maxBytes: number;
  readonly makeRoom: boolean;
}

export interface DeadLetters {
  /**
   * Resolves when the letter is kept, in place of one of the same trigger and event. `copied`: a copy of that was published.
   * @throws Error when the storage does not work
   */
  add(
    letter: NewDeadLetter,
  ): Promise<{ readonly kind: 'added'; readonly copied: boolean } | { readonly kind: 'full' }>;
  markCopied(letter: NewDeadLetter): Promise<void>;
  /** Whether the event of a message is a dead letter already. */
  has(place: LetterPlace, trigger: string, channel: string, delivery: string): Promise<boolean>;
  /** The oldest first. */
  list(
    selection: LetterSelection & { readonly after?: string | null; readonly limit: number },
  ): Promise<LetterPage>;
  get(id: string): Promise<DeadLetter | null>;
  /** @returns how many of them there were */
  remove(ids: readonly string[]): Promise<number>;
  /** @returns how many there were */
  purge(selection: LetterSelection): Promise<number>;
  /**
   * Gives letters back to their triggers, as first attempts. Damaged ones, those that hold no event, and those whose trigger would
   * not receive them stay. @returns how many
   */
  replay(ids: readonly string[]): Promise<number>;
  replayAll(selection: LetterSelection): Promise<number>;
  counts(): Promise<readonly LetterCount[]>;
  /** What a trigger receives its replayed letters from. */
  replays(place: LetterPlace, trigger: string): Channel;
  /** Calls the listener when letters went. @returns what ends that */
  onRoom(listener: () => void): () => void;
}

const PAGE = 200;
/** No configuration has such a topic. */
const REPLAYS = '\0replays of ';
const places: readonly LetterPlace[] = ['local', 'memory', 'distributed'];
/** What ids begin with. */
const prefixes: Readonly<Record<LetterPlace, string>> = { local: 'd', memory: 'm', distributed: 's' };

interface Position {
  readonly place: LetterPlace;
  /** In its storage; null: before all. */
  readonly name: string | null;
}

export interface DeadLettersInput {
  /** Opens the database of a place, or returns the one that is open. */
  open(place: 'local' | 'memory'): EventDatabase;
  /** Opens the distributed storage, or returns the one that is open; null: there is none. */
  readonly objects: (() => Promise<ObjectStore>) | null;
  /** Whether a trigger receives from what its replayed letters come from; absent: each does. */
  receives?(trigger: string, replays: Channel): boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Dead letters in databases of events, on the disk and in memory, and in a distributed storage. */
export function createDeadLetters({ now, objects, open, receives }: DeadLettersInput): DeadLetters {
  /** The places that may have letters: nothing is in memory before something was put there, and a trigger says whether it uses the distributed storage. */
  const used = new Set<LetterPlace>(['local']);
  const stores: Readonly<Record<LetterPlace, LetterStore>> = {
    local: databaseLetters(() => open('local')),
    memory: databaseLetters(() => open('memory')),
    distributed: objectLetters({
      now,
      objects: async () => {
        if (objects === null) throw new Error('Dead letters of the type DFS need EVENTS_DFS_URL');
        return objects();
      },
    }),
  };
  const storeOf = (place: LetterPlace): LetterStore => {
    used.add(place);
    return stores[place];
  };
  const listeners = new Set<() => void>();
  const channels = new Map<string, Channel>();
  const replays = (place: LetterPlace, trigger: string): Channel => {
    // Whoever replays letters handles them: they wait on the disk of this gateway.
    const home = place === 'memory' ? 'memory' : 'local';
    used.add(place);
    const key = JSON.stringify([home, trigger]);
    const channel = channels.get(key) ?? createSqliteChannel(open(home), `${REPLAYS}${trigger}`, now);
    channels.set(key, channel);
    return channel;
  };
  const roomMade = () => {
    for (const listener of listeners) listener();
  };
  const get = async (id: string) => {
    const position = positionOf(id);
    if (position === null || position.name === null || !used.has(position.place)) return null;
    const letter = await stores[position.place].get(position.name);
    return letter === null ? null : letterOf(position.place, letter);
  };
  /** Walks over the letters that are there, the oldest of the disk first. */
  async function* walk({ filter, trigger = null }: LetterSelection, from: Position) {
    for (const place of places.slice(places.indexOf(from.place))) {
      if (!used.has(place)) continue;
      let after = place === from.place ? from.name : null;
      for (;;) {
        const page = await storeOf(place).list({ trigger, after, limit: PAGE });
        for (const one of page) {
          const letter = letterOf(place, one);
          if (isSelected(letter, filter ?? null)) yield letter;
        }
        after = page.at(-1)?.name ?? after;
        if (page.length < PAGE) break;
      }
    }
  }
  const start: Position = { place: 'local', name: null };
  const remove = async (ids: readonly string[]) => {
    let removed = 0;
    for (const place of used) {
      const names = ids
        .map(positionOf)
        .flatMap((one) => (one?.place === place && one.name !== null ? [one.name] : []));
      if (names.length > 0) removed += await stores[place].remove(names);
    }
    if (removed > 0) roomMade();
    return removed;
  };
  /** The event is in the channel before its letter goes: a kill in between repeats it, and loses nothing. */
  const replayOne = async (letter: DeadLetter | null): Promise<number> => {
    const position = letter === null ? null : positionOf(letter.id);
    if (letter === null || position === null || letter.event === null || letter.reason === 'poison') return 0;
    const channel = replays(position.place, letter.trigger);
    if (receives?.(letter.trigger, channel) === false) return 0;
    await channel.publish(letter.event);
    await remove([letter.id]);
    return 1;
  };

  return {
    async add({ event, place, ...letter }) {
      const { id, source } = event.attributes;
      const error = shortError(letter.error);
      try {
        return await storeOf(place).add({
          ...letter,
          error,
          id,
          source,
          event: storedEvent(event),
        });
      } catch (fault) {
        if (fault instanceof ChannelFull || fault instanceof NoSpace) return { kind: 'full' };
        throw fault;
      }
    },
    async markCopied({ event: { attributes }, place, trigger }) {
      const { id, source } = attributes;
      await storeOf(place).markCopied({ trigger, source, id });
    },
    has: (place, trigger, channel, delivery) => storeOf(place).has({ trigger, channel, delivery }),
    async list({ after, limit, ...selection }) {
      const letters: DeadLetter[] = [];
      const from = after == null ? start : (positionOf(after) ?? start);
      for await (const letter of walk(selection, from)) {
        if (letters.length === limit) return { letters, next: letters.at(-1)?.id ?? null };
        letters.push(letter);
      }
      return { letters, next: null };
    },
    get,
    remove,
    async purge(selection) {
      let removed = 0;
      for await (const ids of inBatches(walk(selection, start)))
        removed += await remove(ids.map(({ id }) => id));
      return removed;
    },
    async replay(ids) {
      let replayed = 0;
      for (const id of ids) replayed += await replayOne(await get(id));
      return replayed;
    },
    async replayAll(selection) {
      let replayed = 0;
      // Those that fail again become letters again, behind the last of now.
      const ids: string[] = [];
      for await (const { id } of walk(selection, start)) ids.push(id);
      for (const id of ids) replayed += await replayOne(await get(id));
      return replayed;
    },
    async counts() {
      const all = [...used].map(async (place) => {
        const counted = stores[place].counts();
        // A storage that does not answer hides no other's letters; its trigger says that it is paused.
        return place === 'distributed' ? counted.catch(() => []) : counted;
      });
      return (await Promise.all(all)).flat();
    },
    replays,
    onRoom(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < PAGE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function isSelected(letter: DeadLetter, filter: CompiledExpression | null): boolean {
  if (filter === null) return true;
  return letter.event !== null && filter.matches(withReason(letter.event, letter).attributes);
}

/** An id is a letter for the place and the name there: `d17`. @returns null for what is none */
function positionOf(id: string): Position | null {
  const place = places.find((one) => id.startsWith(prefixes[one]));
  return place !== undefined && /^.[0-9a-f.]{1,100}$/.test(id) ? { place, name: id.slice(1) } : null;
}

function letterOf(place: LetterPlace, { event, intact, name, ...facts }: StoredLetter): DeadLetter {
  return { ...facts, id: `${prefixes[place]}${name}`, event: intact ? eventOfStored(event) : null };
}
