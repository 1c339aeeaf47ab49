import type { Log } from '../../../lib/log.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { SpooledEvent } from '../spool.ts';
import { type LogRecord, readRecords } from './record.ts';
import type { Segments } from './segments.ts';

/** Bytes that a segment has less than. */
const SEGMENT_BYTES = 2 ** 24;
/** Segments whose events are kept in memory, because they were written or read a moment ago. */
const MOST_LOADED = 8;

export interface SegmentIndexInput {
  segments: Segments;
  log: Log;
  sourceId: string;
}

/** Which events of which segments wait for which channels. The events themselves are read again when their turn comes. */
export interface SegmentIndex {
  /** Records were written behind what is in the segment. */
  added(segment: number, records: readonly AddedRecord[]): void;
  next(channel: string, limit: number): Promise<SpooledEvent[]>;
  done(channel: string, sequences: readonly number[]): void;
  /** The segments that nobody needs any more, once. Not while one may be written to. */
  takeDrained(): readonly { readonly number: number; readonly bytes: number }[];
  waiting(channel: string): number;
  /** Events that wait for any channel. */
  events(): number;
  /** Of all segments. */
  bytes(): number;
  damaged(): number;
  /** For each channel, the sequence below which everything is done, as JSON. */
  progress(): string;
}

export type AddedRecord = Pick<LogRecord, 'channels' | 'event'> & { readonly bytes: Buffer };

interface Segment {
  readonly number: number;
  bytes: number;
  /** For each record that waits, by its offset, how many channels do not have it yet. */
  readonly channelsLeft: Map<number, number>;
  /** For each channel, the offsets of the records that wait for it, in order. */
  readonly offsets: Map<string, Set<number>>;
  /** By their offsets; null: to be read again. */
  records: Map<number, CloudEvent> | null;
}

const sequenceOf = (segment: number, offset: number): number => segment * SEGMENT_BYTES + offset;

/** Reads all that is there. @throws when it cannot be read */
export async function createSegmentIndex({
  log,
  segments,
  sourceId,
}: SegmentIndexInput): Promise<SegmentIndex> {
  const index = new Map<number, Segment>();
  const counts = new Map<string, number>();
  /** For each channel the last event that it has. */
  const last = new Map<string, number>();
  const drained = new Set<Segment>();
  let loaded: Segment[] = [];
  let damaged = 0;

  const add = (segment: Segment, channels: readonly string[], offset: number) => {
    if (channels.length > 0) segment.channelsLeft.set(offset, channels.length);
    for (const channel of channels) {
      const offsets = segment.offsets.get(channel) ?? new Set();
      segment.offsets.set(channel, offsets.add(offset));
      counts.set(channel, (counts.get(channel) ?? 0) + 1);
    }
  };
  const load = async (segment: Segment): Promise<ReadonlyMap<number, CloudEvent>> => {
    if (segment.records !== null) return segment.records;
    const { records } = readRecords(await segments.read(segment.number));
    const events = new Map(records.map(({ event, offset }) => [offset, event]));
    segment.records = events;
    keepLoaded(segment);
    return events;
  };
  const keepLoaded = (segment: Segment) => {
    loaded = [...loaded.filter((one) => one !== segment), segment];
    if (loaded.length <= MOST_LOADED) return;
    const [oldest, ...rest] = loaded;
    if (oldest !== undefined) oldest.records = null;
    loaded = rest;
  };
  const done = (channel: string, sequences: readonly number[]) => {
    for (const sequence of sequences) {
      const offset = sequence % SEGMENT_BYTES;
      const segment = index.get((sequence - offset) / SEGMENT_BYTES);
      if (segment?.offsets.get(channel)?.delete(offset) !== true) continue;
      counts.set(channel, (counts.get(channel) ?? 1) - 1);
      last.set(channel, Math.max(last.get(channel) ?? 0, sequence));
      const left = (segment.channelsLeft.get(offset) ?? 1) - 1;
      if (left > 0) segment.channelsLeft.set(offset, left);
      else segment.channelsLeft.delete(offset);
      if (segment.channelsLeft.size === 0) drained.add(segment);
    }
  };
  const reportDamage = (segment: number, bytes: number) => {
    damaged += 1;
    log.error(
      { source: sourceId, segment, bytes },
      'a storage of events is damaged or incomplete: unreadable data is set aside',
    );
  };
  const recover = async () => {
    const finished = progressIn(await segments.readProgress());
    // A number that was used before would be taken for done.
    const highest = Math.max(0, ...finished.values());
    const numbers = await segments.open(Math.floor(highest / SEGMENT_BYTES));
    for (const number of numbers) {
      const bytes = await segments.read(number);
      const read = readRecords(bytes);
      for (const stretch of read.damaged) {
        await segments.setAside(number, stretch);
        reportDamage(number, stretch.length);
      }
      const segment = emptySegment(number, bytes.length);
      for (const { channels, offset } of read.records) {
        const sequence = sequenceOf(number, offset);
        const waiting = channels.filter((channel) => sequence >= (finished.get(channel) ?? 0));
        add(segment, waiting, offset);
      }
      if (segment.channelsLeft.size > 0) index.set(number, segment);
      else await segments.remove(number);
    }
    for (const [channel, sequence] of finished) last.set(channel, sequence - 1);
  };
  await recover();

  return {
    added(number, records) {
      const segment = index.get(number) ?? emptySegment(number, 0);
      index.set(number, segment);
      drained.delete(segment);
      segment.records ??= segment.bytes === 0 ? new Map() : null;
      for (const { bytes, channels, event } of records) {
        add(segment, channels, segment.bytes);
        segment.records?.set(segment.bytes, event);
        segment.bytes += bytes.length;
      }
      if (segment.records !== null) keepLoaded(segment);
    },
    async next(channel, limit) {
      const segments: SpooledEvent[] = [];
      for (const segment of [...index.values()]) {
        const offsets = segment.offsets.get(channel);
        if (offsets === undefined || offsets.size === 0) continue;
        const events = await load(segment);
        for (const offset of [...offsets]) {
          const sequence = sequenceOf(segment.number, offset);
          const event = events.get(offset);
          if (event !== undefined) segments.push({ sequence, event });
          else {
            // It was readable when it was written, or at the start.
            reportDamage(segment.number, 0);
            done(channel, [sequence]);
          }
          if (segments.length === limit) return segments;
        }
      }
      return segments;
    },
    done,
    takeDrained() {
      const all = [...drained];
      drained.clear();
      for (const segment of all) index.delete(segment.number);
      loaded = loaded.filter((one) => !all.includes(one));
      return all;
    },
    waiting: (channel) => counts.get(channel) ?? 0,
    events: () => [...index.values()].reduce((sum, { channelsLeft }) => sum + channelsLeft.size, 0),
    bytes: () => [...index.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    damaged: () => damaged,
    progress() {
      const below: Record<string, number> = {};
      for (const [channel, sequence] of last) below[channel] = firstWaiting(channel, index) ?? sequence + 1;
      return JSON.stringify(below);
    },
  };
}

const emptySegment = (number: number, bytes: number): Segment => ({
  number,
  bytes,
  channelsLeft: new Map(),
  offsets: new Map(),
  records: null,
});

function firstWaiting(channel: string, index: ReadonlyMap<number, Segment>): number | null {
  for (const { number, offsets } of index.values())
    for (const offset of offsets.get(channel) ?? []) return sequenceOf(number, offset);
  return null;
}

/** Unreadable progress is none: events go out again. */
function progressIn(text: string | null): ReadonlyMap<string, number> {
  try {
    const parsed: unknown = JSON.parse(text ?? '{}');
    const entries = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : [];
    return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
  } catch {
    return new Map();
  }
}
