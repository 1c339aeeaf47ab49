import { lastIndexOfBytes, utf8Text } from '../../lib/bytes.ts';
import { QUOTE, stringEnd, valueStart } from '../json/bytes.ts';
import { lastIndexOfNeedle, type Needle } from '../json/needle.ts';
import { closersAfter, type UsageSearch } from './usage-bytes.ts';

/** Which field to look for, and where. */
export interface TextFieldSearch extends Pick<UsageSearch, 'kind' | 'maxDepth'> {
  key: Needle;
}

/** The values that are searched for (tiers, finish reasons) are short. */
const MAX_LITERAL = 64;
/** Fields looked at before giving up, so that a hostile answer cannot make the search quadratic. */
const MAX_TRIES = 64;

/**
 * The result of `accept` for the last field of that name whose value is a text and that is at most `maxDepth` containers
 * deep; fields for which it returns null are skipped. Null if there is none. Generated text cannot match: its quotes are
 * escaped.
 */
export function lastTextField(
  bytes: Uint8Array,
  { key, kind, maxDepth }: TextFieldSearch,
  accept: (text: string) => string | null,
): string | null {
  const { bytes: name } = key;
  let at = lastIndexOfNeedle(bytes, key);
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; tries += 1) {
    const start = valueStart(bytes, at + name.length);
    const end = start !== -1 && bytes[start] === QUOTE ? stringEnd(bytes, start) : -1;
    if (end !== -1 && end - start <= MAX_LITERAL) {
      const text = accept(utf8Text(bytes, start + 1, end - 1));
      if (text !== null && closersAfter(bytes, end, kind).depth <= maxDepth) return text;
    }
    at = at === 0 ? -1 : lastIndexOfBytes(bytes, name, at - 1);
  }
  return null;
}
