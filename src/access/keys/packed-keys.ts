import type { KeyRecord } from '../schema.ts';
import { recordOf, unknownContext } from './stored-key.ts';

/**
 * Many keys in little memory, which the garbage collector need not look through: rows of JSON in a few buffers, and two tables
 * of numbers that find them by hash and by id. Immutable. A key is read when it is asked for.
 */
export interface PackedKeys {
  readonly size: number;
  /** The place of the key with this SHA-256 (hex); -1 for none. */
  placeOfHash(hash: string): number;
  placeOfId(id: string): number;
  idAt(place: number): string;
  /** Its row as it is packed: equal for equal keys. */
  rowAt(place: number): Buffer;
  recordAt(place: number): KeyRecord;
}

type Row = [
  hash: string,
  id: string,
  name: string,
  prefix: string,
  models: string | null,
  createdAt: number,
  expiresAt: number | null,
  disabled: number,
  cacheTtlSeconds: number | null,
  owner: string | null,
  team: string | null,
  labels: string | null,
];

/** Keys in use are read once, not for each request: up to twice as many. */
const READ_KEYS = 4_096;
const LINE_END = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Packs keys that come one after the other. */
export interface Packing {
  /** Rows as `KeyPages` reads them. */
  add(rows: string | Buffer): void;
  done(): PackedKeys;
}

export function createPacking(): Packing {
  const buffers: Buffer[] = [];
  /** By place: the buffer, where the row begins and ends in it, and the id in that. */
  const [bufferOf, starts, ends, ids]: [number[], number[], number[], number[]] = [[], [], [], []];
  return {
    add(rows) {
      // Of its own: one of Node's pool would keep the rest of that.
      const bytes = Buffer.alloc(Buffer.byteLength(rows));
      if (typeof rows === 'string') bytes.write(rows);
      else bytes.set(rows);
      buffers.push(bytes);
      for (let start = 0; start < bytes.length; ) {
        const index = bytes.indexOf(LINE_END, start);
        const end = index === -1 ? bytes.length : index;
        bufferOf.push(buffers.length - 1);
        starts.push(start);
        ends.push(end);
        ids.push(bytes.indexOf(QUOTE, literalEnd(bytes, start + 2) + 1) + 1);
        start = end + 1;
      }
    },
    done: () =>
      packed({
        buffers,
        bufferOf: Uint16Array.from(bufferOf),
        starts: Uint32Array.from(starts),
        ends: Uint32Array.from(ends),
        ids: Uint32Array.from(ids),
      }),
  };
}

/** The row of a key. */
export function rowOf(key: KeyRecord): string {
  const { labels, models } = key;
  const row: Row = [
    key.hash,
    key.id,
    key.name,
    key.prefix,
    models === null ? null : JSON.stringify(models),
    key.createdAt,
    key.expiresAt,
    key.disabled ? 1 : 0,
    key.cacheTtlSeconds,
    key.owner,
    key.team,
    Object.keys(labels).length === 0 ? null : JSON.stringify(labels),
  ];
  return JSON.stringify(row);
}

interface Places {
  buffers: readonly Buffer[];
  bufferOf: Uint16Array;
  starts: Uint32Array;
  ends: Uint32Array;
  ids: Uint32Array;
}

function packed({ bufferOf, buffers, ends, ids, starts }: Places): PackedKeys {
  const size = starts.length;
  const bufferAt = (place: number): Buffer => buffers[bufferOf[place] ?? 0] ?? Buffer.alloc(0);
  // A row begins with `["`, the hash, and the id.
  const hashTable = tableOf(size, (place) => ({ bytes: bufferAt(place), at: (starts[place] ?? 0) + 2 }));
  const idTable = tableOf(size, (place) => ({ bytes: bufferAt(place), at: ids[place] ?? 0 }));
  const rowAt = (place: number) => bufferAt(place).subarray(starts[place], ends[place]);
  const read = recentlyRead((place) => recordOfRow(rowAt(place).toString()));
  return {
    size,
    rowAt,
    recordAt: read,
    placeOfHash: hashTable,
    placeOfId: idTable,
    idAt(place) {
      const [bytes, at] = [bufferAt(place), ids[place] ?? 0];
      return bytes.toString('latin1', at, literalEnd(bytes, at));
    },
  };
}

function recordOfRow(text: string): KeyRecord {
  const [
    hash,
    id,
    name,
    prefix,
    models,
    created_at,
    expires_at,
    disabled,
    cache_ttl_seconds,
    owner,
    team,
    labels,
  ] = JSON.parse(text) as Row;
  const row = { id, name, prefix, hash, models, created_at, expires_at, disabled };
  return recordOf({ ...row, cache_ttl_seconds, owner, team, labels }, unknownContext);
}

/** Remembers what was read last: between `READ_KEYS` and twice as many. */
function recentlyRead(read: (place: number) => KeyRecord): (place: number) => KeyRecord {
  let recent = new Map<number, KeyRecord>();
  let older = new Map<number, KeyRecord>();
  return (place) => {
    const existing = recent.get(place);
    if (existing !== undefined) return existing;
    const record = older.get(place) ?? read(place);
    if (recent.size >= READ_KEYS) {
      older = recent;
      recent = new Map();
    }
    recent.set(place, record);
    return record;
  };
}

/** A text in a row, from its first character on. It is ASCII, without escapes. */
type TextAt = (place: number) => { bytes: Buffer; at: number };

/** A table of hashes with open addressing, at most half full. @returns the place that has a text; -1 for none */
function tableOf(size: number, textAt: TextAt): (text: string) => number {
  const mask = 2 ** Math.ceil(Math.log2(2 * size + 2)) - 1;
  /** Places, counted from 1. */
  const slots = new Int32Array(mask + 1);
  for (let place = 0; place < size; place += 1) {
    const { at, bytes } = textAt(place);
    let slot = hashOfBytes(bytes, at, literalEnd(bytes, at)) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = place + 1;
  }
  return (text) => {
    let slot = hashOfText(text) & mask;
    for (let entry = slots[slot] ?? 0; entry !== 0; entry = slots[slot] ?? 0) {
      const { at, bytes } = textAt(entry - 1);
      if (isTextAt(bytes, at, text)) return entry - 1;
      slot = (slot + 1) & mask;
    }
    return -1;
  };
}

function isTextAt(bytes: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return bytes[at + text.length] === QUOTE;
}

/** The index of the quote that ends a string, from a byte inside it on. */
function literalEnd(bytes: Buffer, from: number): number {
  let index = from;
  while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index;
}

/** FNV-1a, 32 bits. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

function hashOfBytes(bytes: Buffer, from: number, to: number): number {
  let hash = OFFSET;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ (bytes[index] ?? 0), PRIME);
  return hash >>> 0;
}

function hashOfText(text: string): number {
  let hash = OFFSET;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  return hash >>> 0;
}
