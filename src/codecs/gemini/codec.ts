import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';

/** Google's Gemini API (`models/{model}:generateContent` and `:streamGenerateContent`). */
export const gemini: Codec = {
  format: 'gemini',
  pathOf: (model, stream) => `/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  stream: null,
  conversation: null,
  readUsage: () => null,
  responseTextBytes: () => 0,
  encodeError,
};
