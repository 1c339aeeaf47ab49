import { openAiErrorBody } from '../openai-shared/error.ts';
import type { Codec } from '../wire-codec.ts';
import { encodeError } from './answer/error.ts';
import { stream } from './answer/stream.ts';
import { readUsage, responseTextBytes } from './answer/usage.ts';
import { translation } from './translation.ts';

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
