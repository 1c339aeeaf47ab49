import { fieldNeedle } from '../json/needle.ts';
import { tierWord } from '../model/tier.ts';
import { lastTextField, type TextFieldSearch } from './text-field.ts';

const key = fieldNeedle('service_tier');

/**
 * The tier in the last field `service_tier` that is at most `maxDepth` containers deep, normalized by `tierWord`; null
 * if there is none.
 */
function lastTier(bytes: Uint8Array, where: Pick<TextFieldSearch, 'kind' | 'maxDepth'>): string | null {
  return lastTextField(bytes, { key, ...where }, tierWord);
}

/** The same of an answer of which both ends are at hand, the last one first. A whole answer is its own beginning and end. */
export function tierAtEnds(
  head: Uint8Array,
  tail: Uint8Array,
  where: Pick<TextFieldSearch, 'kind' | 'maxDepth'>,
): string | null {
  const last = lastTier(tail, where);
  return last !== null || head === tail ? last : lastTier(head, where);
}
