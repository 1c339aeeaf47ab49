import { createHash } from 'node:crypto';
import type { CloudEvent } from '../../src/events/cloudevents/event.ts';

/** What became of the events of one run. */
export interface LedgerReport {
  readonly accepted: number;
  /** Deliveries, repeated ones included. */
  readonly delivered: number;
  readonly deadLetters: number;
  /** Accepted, and neither delivered nor a dead letter. */
  readonly lost: number;
  /** Deliveries of an event to a trigger beyond the first. */
  readonly duplicates: number;
  /** Deliveries, repeated ones apart, of an event of a source before an earlier one of it. */
  readonly reordered: number;
  /** Delivered, and never sent. */
  readonly phantoms: number;
  /** Delivered with other data than it was sent with. */
  readonly corrupt: number;
}

/** Accounts for every event: what was sent, what was accepted, and what came out at which trigger. */
export interface Ledger {
  /** An event of a source, with data that a change of would be seen. */
  next(source: string): CloudEvent;
  /** Another process may have sent the events of a source up to this number. */
  sentUpTo(source: string, number: number): void;
  accepted(event: CloudEvent): void;
  delivered(trigger: string, event: Pick<CloudEvent, 'attributes' | 'data'>): void;
  deadLetter(trigger: string, event: Pick<CloudEvent, 'attributes'>): void;
  /** Accepted events that a trigger has neither got nor put aside. */
  missing(trigger: string): readonly string[];
  report(triggers: readonly string[]): LedgerReport;
}

const keyOf = ({ attributes }: Pick<CloudEvent, 'attributes'>): string =>
  JSON.stringify([attributes.source, attributes.id]);

/** @param size bytes of each event's data */
export function createLedger(size = 64): Ledger {
  /** How many events each source may have sent. */
  const sent = new Map<string, number>();
  const accepted = new Set<string>();
  const deliveries: { trigger: string; key: string; source: string; number: number; intact: boolean }[] = [];
  const letters = new Set<string>();
  /** By trigger, the events that it has got. */
  const delivered = new Map<string, Set<string>>();
  const missing = (trigger: string) => {
    const got = delivered.get(trigger);
    // A long run asks for this many times.
    return [...accepted].filter(
      (key) => got?.has(key) !== true && !letters.has(JSON.stringify([trigger, key])),
    );
  };
  return {
    next(source) {
      const number = (sent.get(source) ?? 0) + 1;
      sent.set(source, number);
      return numbered(source, number, size);
    },
    sentUpTo: (source, number) => void sent.set(source, Math.max(number, sent.get(source) ?? 0)),
    accepted: (event) => void accepted.add(keyOf(event)),
    delivered(trigger, event) {
      const { id, source } = event.attributes;
      const number = Number(id);
      const expected = dataOf(source, number, size);
      const intact = event.data !== null && Buffer.compare(event.data, expected) === 0;
      const key = keyOf(event);
      const got = delivered.get(trigger) ?? new Set();
      delivered.set(trigger, got.add(key));
      deliveries.push({ trigger, key, source, number, intact });
    },
    deadLetter: (trigger, event) => void letters.add(JSON.stringify([trigger, keyOf(event)])),
    missing,
    report(triggers) {
      let duplicates = 0;
      let reordered = 0;
      for (const trigger of triggers) {
        const seen = new Set<string>();
        const latest = new Map<string, number>();
        for (const { key, number, source } of deliveries.filter((one) => one.trigger === trigger)) {
          if (seen.has(key)) duplicates += 1;
          else if (number < (latest.get(source) ?? 0)) reordered += 1;
          seen.add(key);
          latest.set(source, Math.max(number, latest.get(source) ?? 0));
        }
      }
      return {
        accepted: accepted.size,
        delivered: deliveries.length,
        deadLetters: letters.size,
        lost: triggers.reduce((sum, trigger) => sum + missing(trigger).length, 0),
        duplicates,
        reordered,
        phantoms: deliveries.filter(
          ({ number, source }) => !(number >= 1 && number <= (sent.get(source) ?? 0)),
        ).length,
        corrupt: deliveries.filter(({ intact }) => !intact).length,
      };
    },
  };
}

/** The nth event of a source, the same in every process. */
export function numbered(source: string, number: number, size = 64): CloudEvent {
  return {
    attributes: { specversion: '1.0', id: String(number), source, type: 'ledger.event' },
    data: dataOf(source, number, size),
  };
}

function dataOf(source: string, number: number, size: number): Buffer {
  const data = Buffer.alloc(size);
  const digest = createHash('sha256').update(`${source} ${number}`).digest();
  for (let at = 0; at < size; at += digest.length) digest.copy(data, at);
  return data;
}

/** Chance that repeats itself: mulberry32. @returns numbers from 0 to 1 */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
