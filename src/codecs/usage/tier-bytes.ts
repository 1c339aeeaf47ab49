import { utf8Bytes } from '../../lib/bytes.ts';
import { tierWord } from '../model/tier.ts';
import { lastTextField, type TextFieldSearch } from './text-field.ts';

const key = utf8Bytes('"service_tier"');

/**
 * The tier that the last field `service_tier` names that stands at most `maxDepth` containers deep, as `tierWord` has it;
 * null for none.
 */
export function lastTier(
  bytes: Uint8Array,
  where: Pick<TextFieldSearch, 'kind' | 'maxDepth'>,
): string | null {
  return lastTextField(bytes, { key, ...where }, tierWord);
}
