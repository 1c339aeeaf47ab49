import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readTier, readUsage, responseTextBytes } from './usage.ts';

/** Google's Gemini API (`models/{model}:generateContent` and `:streamGenerateContent`), which Gemini CLI speaks. */
export const gemini: Codec = {
  ...translation,
  stream,
  answerModel: 'modelVersion',
  readUsage,
  readTier,
  responseTextBytes,
  encodeError,
};
