import { codecOf } from '../../codecs/index.ts';
import { indexOfNeedle } from '../../codecs/json/byte-search.ts';
import { keptFieldNeedle } from '../../codecs/json/needle.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';

/** Digits of the largest number that is looked at; spaces may stand before it. */
const LOOK_AHEAD = 24;
/** In a body that is full of such fields only the first are looked at. */
const MAX_MATCHES = 16;

/** How many tokens of output a request asks for at most in each answer; null when it names none. */
export function requestedOutput(format: WireFormat, body: readonly Buffer[]): number | null {
  return largestNumber(codecOf(format).requestFields.outputCap ?? [], body);
}

/**
 * The largest number that any field of these names has, wherever it stands; null when there is none. Searched for, not
 * parsed: in a text such a name stands between escaped quotes, which do not match.
 * @param paths of which the last names are looked for
 */
export function largestNumber(paths: readonly string[], body: readonly Buffer[]): number | null {
  let largest: number | null = null;
  for (const path of paths) {
    const needle = keptFieldNeedle(path.slice(path.lastIndexOf('.') + 1));
    for (const piece of body) {
      let at = indexOfNeedle(piece, needle);
      for (let matches = 0; at !== -1 && matches < MAX_MATCHES; matches += 1) {
        const end = at + needle.bytes.length;
        const value = /^\s*:\s*(\d{1,9})\b/.exec(piece.toString('latin1', end, end + LOOK_AHEAD))?.[1];
        if (value !== undefined) largest = Math.max(largest ?? 0, Number(value));
        at = indexOfNeedle(piece, needle, end);
      }
    }
  }
  return largest;
}
