import type { Codec } from '../codec.ts';
import { counting } from './counting.ts';
import { encodeError, errorBody } from './error.ts';
import { history } from './history.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readTier, readUsage, responseTextBytes } from './usage.ts';

/** Google's Gemini API (`models/{model}:generateContent` and `:streamGenerateContent`), which Gemini CLI speaks. */
export const gemini: Codec = {
  ...translation,
  path: null,
  counting,
  history,
  stream,
  answerModel: 'modelVersion',
  readUsage,
  readTier,
  responseTextBytes,
  errorBody,
  encodeError,
};
