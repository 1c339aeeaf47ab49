import { indexOfBytes, lastIndexOfBytes, probeOf, utf8Bytes } from '../../lib/bytes.ts';

/** A text to search for in bytes. */
export interface Needle {
  /** In UTF-8. */
  bytes: Uint8Array;
  /** The part of it that begins with its rarest byte: it is found, or missed, fastest. */
  probe: Uint8Array;
  /** The position of that part in the text, in bytes. */
  offset: number;
}

/** @param text not empty */
export function needleOf(text: string): Needle {
  const bytes = utf8Bytes(text);
  return { bytes, ...probeOf(bytes) };
}

/** The name of a JSON field, in its quotes. */
export function fieldNeedle(name: string): Needle {
  return needleOf(quoted(name));
}

const kept = new Map<string, Needle>();
const MAX_KEPT = 256;

/** The same as `needleOf`, made once for each text: of those that formats and providers name there are a few. */
export function keptNeedle(text: string): Needle {
  const existing = kept.get(text);
  if (existing !== undefined) return existing;
  const needle = needleOf(text);
  if (kept.size < MAX_KEPT) kept.set(text, needle);
  return needle;
}

/** The same as `fieldNeedle`, made once for each name. */
export function keptFieldNeedle(name: string): Needle {
  return keptNeedle(quoted(name));
}

/** Names of fields need no escapes. */
function quoted(name: string): string {
  return `"${name}"`;
}

/**
 * The position of the last occurrence in the bytes; -1 if there is none. Native searches backwards are slow, most of all if
 * there is nothing to find: whether there is anything is searched forwards.
 */
export function lastIndexOfNeedle(within: Uint8Array, { bytes, probe }: Needle): number {
  return indexOfBytes(within, probe) === -1 ? -1 : lastIndexOfBytes(within, bytes);
}
