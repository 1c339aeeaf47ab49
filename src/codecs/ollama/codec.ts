import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readUsage, responseTextBytes } from './usage.ts';

/** Ollama's own chat (`/api/chat`). */
export const ollama: Codec = {
  ...translation,
  stream,
  answerModel: 'model',
  readUsage,
  responseTextBytes,
  encodeError,
};
