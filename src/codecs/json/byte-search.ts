/** A text to look for in bytes. */
export interface Sought {
  bytes: Buffer;
  /** A part of it that begins with its rarest byte, and where that part stands. */
  probe: Buffer;
  offset: number;
}

/** Bytes of requests with code in them, the commonest first; what is not here is rare. */
const common = ' eatnrsoi"l\\dcu,mphf:gyb.v/w1203(){}[]=-;4567898_kSTCEAx';

/**
 * Below this length V8 and Node look for a text by its first byte, with the processor's widest instructions; a longer one is
 * looked for by a method that is ten times slower where the first byte is rare.
 */
const PROBE_BYTES = 6;

/** @param text not empty */
export function sought(text: string): Sought {
  const bytes = Buffer.from(text);
  let offset = 0;
  let rarest = -1;
  for (const [index, byte] of bytes.entries()) {
    const rank = common.indexOf(String.fromCharCode(byte));
    const rarity = rank === -1 ? common.length : rank;
    if (rarity <= rarest) continue;
    rarest = rarity;
    offset = index;
  }
  return { bytes, offset, probe: bytes.subarray(offset, offset + PROBE_BYTES) };
}

/** Where the text stands in `within` from `from` on; -1 where it does not. The same as `indexOf`, and faster in much text. */
export function indexOfSought(within: Buffer, { bytes, offset, probe }: Sought, from = 0): number {
  for (let at = within.indexOf(probe, from + offset); at !== -1; at = within.indexOf(probe, at + 1)) {
    const start = at - offset;
    const end = start + bytes.length;
    if (end > within.length) return -1;
    if (within.compare(bytes, 0, bytes.length, start, end) === 0) return start;
  }
  return -1;
}
