import { indexOfBytes, lastIndexOfBytes, probeOf, utf8Bytes } from '../../lib/bytes.ts';

/** The name of a JSON field to look for in bytes. */
export interface FieldKey {
  /** In its quotes. */
  quoted: Uint8Array;
  /** The part of that which is found, or missed, fastest. */
  probe: Uint8Array;
}

export function fieldKey(name: string): FieldKey {
  const quoted = utf8Bytes(JSON.stringify(name));
  return { quoted, probe: probeOf(quoted).probe };
}

/**
 * Where the last field of that name begins, at its quote; -1 where there is none. Native searches backwards are
 * slow, most of all where there is nothing to find: whether there is anything is looked for forwards.
 */
export function lastIndexOfField(bytes: Uint8Array, { probe, quoted }: FieldKey): number {
  return indexOfBytes(bytes, probe) === -1 ? -1 : lastIndexOfBytes(bytes, quoted);
}
