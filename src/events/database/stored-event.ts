import type { CloudEvent, EventAttributes } from '../cloudevents/event.ts';

/**
 * How events are kept in a database: the attributes as JSON and, behind a byte 0, the data. No byte of the data changes, and
 * nothing is checked again when it is read, for the checksum of the row tells whether it is what was written.
 */
const SEPARATOR = 0;

export function storedEvent({ attributes, data }: CloudEvent): Buffer {
  const head = JSON.stringify(attributes);
  if (data === null) return Buffer.from(head);
  const headBytes = Buffer.byteLength(head);
  const stored = Buffer.allocUnsafe(headBytes + 1 + data.byteLength);
  stored.write(head);
  stored[headBytes] = SEPARATOR;
  stored.set(data, headBytes + 1);
  return stored;
}

/** @returns null for bytes that `storedEvent` did not make */
export function eventOfStored(stored: Uint8Array): CloudEvent | null {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const end = bytes.indexOf(SEPARATOR);
  const attributes = attributesOf(end === -1 ? bytes : bytes.subarray(0, end));
  return attributes === null ? null : { attributes, data: end === -1 ? null : bytes.subarray(end + 1) };
}

function attributesOf(json: Buffer): EventAttributes | null {
  try {
    const parsed: unknown = JSON.parse(json.toString());
    return typeof parsed === 'object' && parsed !== null && 'specversion' in parsed
      ? (parsed as EventAttributes)
      : null;
  } catch {
    return null;
  }
}
