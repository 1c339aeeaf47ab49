import type { Codec } from '../codec.ts';
import { openAiErrorBody } from '../openai-shared/error.ts';
import { encodeError } from './error.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readUsage, responseTextBytes } from './usage.ts';

/** Ollama's own chat (`/api/chat`). */
export const ollama: Codec = {
  ...translation,
  path: null,
  stream,
  answerModel: 'model',
  readUsage,
  responseTextBytes,
  errorBody: openAiErrorBody,
  encodeError,
};
