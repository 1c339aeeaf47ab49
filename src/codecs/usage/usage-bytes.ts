import { indexOfBytes, lastIndexOfBytes, utf8Text } from '../../lib/bytes.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  containerEnd,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  stringEnd,
  valueStart,
} from '../json/bytes.ts';
import { fieldNeedle, lastIndexOfNeedle, type Needle } from '../json/needle.ts';
import { type JsonObject, parseObject } from '../json/values.ts';

/** Where to look, and what to take. */
export interface UsageSearch {
  /** `body`: one JSON document. `stream`: SSE records, of which the first and the last may be cut. */
  kind: 'body' | 'stream';
  /** The field to look for; `usage` when left out. */
  key?: Needle;
  /** How many containers may enclose the usage object: the format's own places are near the root, tool input is deeper. */
  maxDepth: number;
  /** True when the object has the token counts of the format. */
  accepts(counts: JsonObject): boolean;
}

export interface UsageMatch {
  counts: JsonObject;
  /** Containers that were still open around the object in what follows it. */
  depth: number;
  /** True when what follows the object reaches the end of its record or body. */
  closed: boolean;
}

const USAGE = fieldNeedle('usage');
const MAX_OBJECT_BYTES = 65_536;
/** Objects looked into before giving up, so that a hostile answer cannot make the search quadratic. */
const MAX_TRIES = 64;
const LF = 0x0a;
const CR = 0x0d;

/**
 * The last usage object in `bytes`, found backwards without parsing anything else. Generated text cannot
 * match: its quotes are escaped. A usage of `null` is passed over.
 */
export function lastUsage(bytes: Uint8Array, search: UsageSearch): UsageMatch | null {
  const key = search.key ?? USAGE;
  let tries = 0;
  let at = lastIndexOfNeedle(bytes, key);
  while (at !== -1 && tries < MAX_TRIES) {
    const open = valueOpen(bytes, at + key.bytes.length);
    if (open !== -1) {
      tries += 1;
      const usageObject = usageAt(bytes, open, search);
      if (usageObject !== null) return usageObject;
    }
    at = at === 0 ? -1 : lastIndexOfBytes(bytes, key.bytes, at - 1);
  }
  return null;
}

/** The first usage object in `bytes`, found forwards. */
export function firstUsage(bytes: Uint8Array, search: UsageSearch): UsageMatch | null {
  const key = search.key ?? USAGE;
  let tries = 0;
  let at = indexOfBytes(bytes, key.bytes);
  while (at !== -1 && tries < MAX_TRIES) {
    const open = valueOpen(bytes, at + key.bytes.length);
    if (open !== -1) {
      tries += 1;
      const usageObject = usageAt(bytes, open, search);
      if (usageObject !== null) return usageObject;
    }
    at = indexOfBytes(bytes, key.bytes, at + key.bytes.length);
  }
  return null;
}

/** The index of the brace that opens the value of the key that ends at `end`, or -1 if its value is not an object. */
function valueOpen(bytes: Uint8Array, end: number): number {
  const open = valueStart(bytes, end);
  return bytes[open] === OPEN_OBJECT ? open : -1;
}

function usageAt(bytes: Uint8Array, open: number, search: UsageSearch): UsageMatch | null {
  const end = containerEnd(bytes, open, Math.min(bytes.length, open + MAX_OBJECT_BYTES));
  if (end === -1) return null;
  const counts = parseSlice(utf8Text(bytes, open, end));
  if (counts === null || !search.accepts(counts)) return null;
  const around = closersAfter(bytes, end, search.kind);
  if (around.depth > search.maxDepth) return null;
  // A body that does not close around the object is broken; a stream may have been cut there.
  if (search.kind === 'body' && around.depth < 1) return null;
  return { counts, ...around };
}

/** An object that an SSE record spread over several `data` lines parses once the field names are taken out. */
function parseSlice(text: string): JsonObject | null {
  return parseObject(text) ?? (/[\r\n]/.test(text) ? parseObject(text.replace(/[\r\n]data:/g, '\n')) : null);
}

/**
 * Counts the brackets that close more than what opens between `from` and the end of the body or record. `closed` is
 * true when that end was reached.
 */
export function closersAfter(
  bytes: Uint8Array,
  from: number,
  kind: UsageSearch['kind'],
): { depth: number; closed: boolean } {
  let depth = 0;
  let index = from;
  while (index < bytes.length) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = stringEnd(bytes, index);
      if (index === -1) return { depth, closed: false };
      continue;
    }
    if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth -= 1;
    else if (kind === 'stream' && (byte === LF || byte === CR) && blankLineFollows(bytes, index)) {
      return { depth, closed: true };
    }
    index += 1;
  }
  return { depth, closed: kind === 'body' };
}

function blankLineFollows(bytes: Uint8Array, lineEnd: number): boolean {
  const next = bytes[lineEnd] === CR && bytes[lineEnd + 1] === LF ? lineEnd + 2 : lineEnd + 1;
  return bytes[next] === LF || bytes[next] === CR;
}
