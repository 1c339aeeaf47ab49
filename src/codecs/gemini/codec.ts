import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';
import { stream } from './stream.ts';
import { readUsage, responseTextBytes } from './usage.ts';

/** Google's Gemini API (`models/{model}:generateContent` and `:streamGenerateContent`). */
export const gemini: Codec = {
  format: 'gemini',
  pathOf: (model, stream) => `/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  stream,
  conversation: null,
  readUsage,
  responseTextBytes,
  encodeError,
};
