import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { failuresOf, failuresText } from '../channels/failed-attempt.ts';
import type { ObjectStore } from '../spool/objects/object-store.ts';
import { type DeadLetterReason, type LetterCount, letterSize, type NewLetter } from './letter-calls.ts';
import type { LetterStore, StoredLetter } from './letter-store.ts';

const LETTERS = 'dead-letters/';
const TRIGGERS = 'dead-letter-triggers/';
/** For how long a new letter counts with the list that was read last: others may keep letters in the same storage. */
const LIST_MS = 30_000;
/** Objects that are read or removed at a time. */
const AT_ONCE = 16;
const NUMBERS = 1_000_000;

/** What the name of an object tells. */
interface Entry {
  readonly name: string;
  readonly size: number;
  readonly trigger: string;
  readonly event: string;
  readonly delivery: string;
}

export interface ObjectLettersInput {
  objects(): Promise<ObjectStore>;
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
}

/**
 * Dead letters as objects, one for each. The name begins with the time, so that a list has the oldest first, and has what a letter
 * is looked for by: `TIME.NUMBER.SIZE.TRIGGER.EVENT.MESSAGE`, the last three as a part of a hash. The number keeps letters of the
 * same millisecond in order.
 */
export function objectLetters({ now, objects }: ObjectLettersInput): LetterStore {
  let listed: { readonly at: number; readonly entries: Promise<Map<string, Entry>> } | null = null;
  /** What is being written. */
  const writing = new Map<string, Entry>();
  /** Ids of triggers by the hashes that stand for them. */
  const triggers = new Map<string, string>();
  let number = 0;

  const read = async (): Promise<Map<string, Entry>> => {
    const keys = await (await objects()).list(LETTERS);
    const entries = keys.map((key) => entryOf(key.slice(LETTERS.length))).filter((entry) => entry !== null);
    return new Map([...entries.map((entry) => [entry.name, entry] as const), ...writing]);
  };
  /** @param age in milliseconds, how old the list may be */
  const entries = async (age: number): Promise<Map<string, Entry>> => {
    if (listed === null || now() - listed.at >= age) {
      const reading = { at: now(), entries: read() };
      listed = reading;
      reading.entries.catch(() => {
        if (listed === reading) listed = null;
      });
    }
    return listed.entries;
  };
  const readAll = async (names: readonly string[]): Promise<StoredLetter[]> => {
    const store = await objects();
    const letters: StoredLetter[] = [];
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const some = names.slice(from, from + AT_ONCE).map(async (name) => {
        const bytes = await store.get(`${LETTERS}${name}`);
        return bytes === null ? null : letterOf(name, bytes);
      });
      letters.push(...(await Promise.all(some)).filter((letter) => letter !== null));
    }
    return letters;
  };
  const remember = async (trigger: string) => {
    const hash = digest(trigger, 12);
    if (triggers.has(hash)) return;
    await (await objects()).create(`${TRIGGERS}${hash}`, Buffer.from(trigger));
    triggers.set(hash, trigger);
  };
  const triggerOf = async (hash: string): Promise<string> => {
    const existing = triggers.get(hash);
    if (existing !== undefined) return existing;
    const trigger = (await (await objects()).get(`${TRIGGERS}${hash}`))?.toString() ?? hash;
    triggers.set(hash, trigger);
    return trigger;
  };
  const remove = async (names: readonly string[]): Promise<number> => {
    const letters = await entries(LIST_MS);
    const store = await objects();
    let removed = 0;
    for (let from = 0; from < names.length; from += AT_ONCE)
      await Promise.all(
        names.slice(from, from + AT_ONCE).map(async (name) => {
          if (!letters.delete(name)) return;
          await store.remove(`${LETTERS}${name}`);
          removed += 1;
        }),
      );
    return removed;
  };

  return {
    async add(letter) {
      const store = await objects();
      await remember(letter.trigger);
      const letters = await entries(LIST_MS);
      number = (number + 1) % NUMBERS;
      const entry = newEntry(letter, number);
      const ofTrigger = [...letters.values()].filter(({ trigger }) => trigger === entry.trigger);
      const before = ofTrigger.filter(({ event }) => event === entry.event);
      const others = ofTrigger.filter(({ event }) => event !== entry.event);
      let bytes = others.reduce((sum, { size }) => sum + size, entry.size);
      if (entry.size > letter.maxBytes || (bytes > letter.maxBytes && !letter.makeRoom))
        return { kind: 'full' };
      const replaced = before.map(({ name }) => name).filter((name) => name !== entry.name);
      for (const { name, size } of others.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (bytes <= letter.maxBytes) break;
        bytes -= size;
        replaced.push(name);
      }
      // Others that are added meanwhile count it.
      letters.set(entry.name, entry);
      writing.set(entry.name, entry);
      try {
        await store.put(`${LETTERS}${entry.name}`, bytesOf(letter));
      } catch (error) {
        letters.delete(entry.name);
        throw error;
      } finally {
        writing.delete(entry.name);
      }
      await remove(replaced);
      return { kind: 'added', copied: false };
    },
    // Copies are kept on this machine's disk.
    async markCopied() {},
    async has({ channel, delivery, trigger }) {
      const [ofTrigger, ofDelivery] = [digest(trigger, 12), deliveryDigest(channel, delivery)];
      const letters = [...(await entries(0)).values()];
      return letters.some((entry) => entry.trigger === ofTrigger && entry.delivery === ofDelivery);
    },
    async list({ after, limit, trigger }) {
      const ofTrigger = trigger === null ? null : digest(trigger, 12);
      // The pages behind the first are of the same list.
      const all = [...(await entries(after === null ? 0 : LIST_MS)).values()];
      const selected = all.filter(
        (entry) =>
          (ofTrigger === null || entry.trigger === ofTrigger) && (after === null || entry.name > after),
      );
      const names = selected.map(({ name }) => name).sort();
      return readAll(names.slice(0, limit));
    },
    async get(name) {
      if (entryOf(name) === null) return null;
      return (await readAll([name]))[0] ?? null;
    },
    async remove(names) {
      const unknown = names.filter((name) => entryOf(name) !== null);
      if (unknown.length === 0) return 0;
      const letters = await entries(LIST_MS);
      if (unknown.some((name) => !letters.has(name))) await entries(0);
      return remove(unknown);
    },
    async counts() {
      const totals = new Map<string, { count: number; bytes: number }>();
      for (const { size, trigger } of (await entries(0)).values()) {
        const { bytes, count } = totals.get(trigger) ?? { bytes: 0, count: 0 };
        totals.set(trigger, { count: count + 1, bytes: bytes + size });
      }
      const counts: LetterCount[] = [];
      for (const [hash, total] of totals) counts.push({ trigger: await triggerOf(hash), ...total });
      return counts.sort((a, b) => (a.trigger < b.trigger ? -1 : 1));
    },
  };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

const deliveryDigest = (channel: string, delivery: string): string =>
  digest(JSON.stringify([channel, delivery]), 16);

function newEntry(letter: NewLetter, number: number): Entry {
  const size = letterSize(letter.event, letter.error, failuresText(letter.failures));
  const trigger = digest(letter.trigger, 12);
  const event = digest(JSON.stringify([letter.source, letter.id]), 24);
  const delivery = deliveryDigest(letter.channel, letter.delivery);
  const place = `${String(letter.at).padStart(13, '0')}.${String(number).padStart(6, '0')}`;
  return { name: [place, size, trigger, event, delivery].join('.'), size, trigger, event, delivery };
}

/** Null for what is no letter. */
function entryOf(name: string): Entry | null {
  const [, size, trigger = '', event = '', delivery = ''] =
    /^\d{13}\.\d{6}\.(\d{1,12})\.([0-9a-f]{12})\.([0-9a-f]{24})\.([0-9a-f]{16})$/.exec(name) ?? [];
  return size === undefined ? null : { name, size: Number(size), trigger, event, delivery };
}

/** The facts as JSON, in a line of its own, and the bytes of the event. */
function bytesOf({ event, ...letter }: NewLetter): Buffer {
  const { at, attempts, channel, error, reason, status, trigger } = letter;
  const failures = failuresText(letter.failures);
  const checksum = crc32(event);
  const facts = JSON.stringify({ trigger, channel, reason, attempts, status, error, at, checksum, failures });
  return Buffer.concat([Buffer.from(`${facts}\n`), event]);
}

/** Null for bytes that `bytesOf` did not make. */
function letterOf(name: string, bytes: Buffer): StoredLetter | null {
  const end = bytes.indexOf('\n');
  const facts = factsIn(bytes.subarray(0, Math.max(end, 0)));
  if (facts === null) return null;
  const event = bytes.subarray(end + 1);
  return {
    name,
    trigger: String(facts['trigger']),
    channel: String(facts['channel']),
    reason: facts['reason'] as DeadLetterReason,
    attempts: Number(facts['attempts']),
    status: typeof facts['status'] === 'number' ? facts['status'] : null,
    error: String(facts['error']),
    at: Number(facts['at']),
    failures: failuresOf(facts['failures']),
    event,
    intact: crc32(event) === facts['checksum'],
  };
}

function factsIn(json: Buffer): Record<string, unknown> | null {
  try {
    const facts: unknown = JSON.parse(json.toString());
    return typeof facts === 'object' && facts !== null ? { ...facts } : null;
  } catch {
    return null;
  }
}
