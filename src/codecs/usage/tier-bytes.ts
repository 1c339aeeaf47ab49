import { lastIndexOfBytes, utf8Bytes, utf8Text } from '../../lib/bytes.ts';
import { QUOTE, stringEnd, valueStart } from '../json/bytes.ts';
import { tierWord } from '../model/tier.ts';
import { closersAfter, type UsageSearch } from './usage-bytes.ts';

const KEY = utf8Bytes('"service_tier"');
/** A tier's name is short. */
const MAX_LITERAL = 64;
/** Members looked at before giving up, so that a hostile answer cannot make the search quadratic. */
const MAX_TRIES = 64;

/**
 * The tier that the last member `service_tier` names whose value is a text and that stands at most `maxDepth` containers
 * deep, as `tierWord` has it; null for none. Generated text cannot match: its quotes are escaped.
 */
export function lastTier(
  bytes: Uint8Array,
  { kind, maxDepth }: Pick<UsageSearch, 'kind' | 'maxDepth'>,
): string | null {
  let at = lastIndexOfBytes(bytes, KEY);
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; tries += 1) {
    const start = valueStart(bytes, at + KEY.length);
    const end = start !== -1 && bytes[start] === QUOTE ? stringEnd(bytes, start) : -1;
    if (end !== -1 && end - start <= MAX_LITERAL) {
      const tier = tierWord(utf8Text(bytes, start + 1, end - 1));
      if (tier !== null && closersAfter(bytes, end, kind).depth <= maxDepth) return tier;
    }
    at = at === 0 ? -1 : lastIndexOfBytes(bytes, KEY, at - 1);
  }
  return null;
}
