import { crc32 } from 'node:zlib';
import type { CloudEvent } from '../../cloudevents/event.ts';
import { eventOfStored, storedEvent } from '../../database/stored-event.ts';

/**
 * A record: these four bytes, the length of what follows behind the checksum, that checksum, the channels as JSON with its length
 * before it, and the event. No text has the first byte, so that the next record is found behind one that is damaged.
 */
const MARK = Buffer.from([0xf7, 0x65, 0x76, 0x01]);
const HEAD_BYTES = 12;

export interface LogRecord {
  /** Where it begins, in bytes from the begin of what is read. */
  readonly offset: number;
  readonly event: CloudEvent;
  /** Those that it waits for. */
  readonly channels: readonly string[];
}

export interface ReadLog {
  readonly records: readonly LogRecord[];
  /** Stretches of bytes that are no records. */
  readonly damaged: readonly Buffer[];
}

export function encodeRecord(event: CloudEvent, channels: readonly string[]): Buffer {
  const names = Buffer.from(JSON.stringify(channels));
  const stored = storedEvent(event);
  const record = Buffer.allocUnsafe(HEAD_BYTES + 4 + names.length + stored.length);
  MARK.copy(record);
  record.writeUInt32BE(4 + names.length + stored.length, 4);
  record.writeUInt32BE(names.length, HEAD_BYTES);
  names.copy(record, HEAD_BYTES + 4);
  stored.copy(record, HEAD_BYTES + 4 + names.length);
  record.writeUInt32BE(crc32(record.subarray(HEAD_BYTES)), 8);
  return record;
}

/** Reads what `encodeRecord` wrote, one after the other, and goes on behind what is damaged. */
export function readRecords(bytes: Buffer): ReadLog {
  const records: LogRecord[] = [];
  const damaged: Buffer[] = [];
  let from = 0;
  while (from < bytes.length) {
    const record = recordAt(bytes, from);
    if (record !== null) {
      records.push(record.record);
      from = record.end;
      continue;
    }
    const next = nextRecord(bytes, from + 1);
    damaged.push(bytes.subarray(from, next));
    from = next;
  }
  return { records, damaged };
}

function nextRecord(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(MARK, from); at !== -1; at = bytes.indexOf(MARK, at + 1))
    if (recordAt(bytes, at) !== null) return at;
  return bytes.length;
}

function recordAt(bytes: Buffer, start: number): { record: LogRecord; end: number } | null {
  const body = start + HEAD_BYTES;
  if (body > bytes.length || MARK.compare(bytes, start, start + MARK.length) !== 0) return null;
  const end = body + bytes.readUInt32BE(start + 4);
  if (end > bytes.length || end < body + 4) return null;
  const payload = bytes.subarray(body, end);
  if (crc32(payload) !== bytes.readUInt32BE(start + 8)) return null;
  const namesEnd = 4 + payload.readUInt32BE(0);
  const event = eventOfStored(payload.subarray(namesEnd));
  if (event === null) return null;
  return {
    record: { offset: start, event, channels: JSON.parse(payload.toString('utf8', 4, namesEnd)) },
    end,
  };
}
