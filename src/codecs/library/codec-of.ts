import type { TranslationCodec } from '../codec.ts';
import { TranslationError } from './error.ts';
import type { Format } from './format.ts';

/**
 * The format as the codecs have it.
 * @throws TranslationError `format_not_supported` for anything that is no format
 */
export function codecOf(format: Format, field: string): TranslationCodec {
  const codec = format as Partial<TranslationCodec> | null | undefined;
  if (typeof codec !== 'object' || codec === null || codec.conversation === undefined)
    throw new TranslationError(
      'format_not_supported',
      `"${field}" must be one of the formats that this module exports, e.g. openaiChat`,
      { field },
    );
  return codec as TranslationCodec;
}
