import { openAiErrorBody } from '../openai-shared/error.ts';
import { finishReader } from '../usage/finish-bytes.ts';
import type { Codec } from '../wire-codec.ts';
import { encodeError } from './answer/error.ts';
import { meaningOf } from './answer/finish.ts';
import { stream } from './answer/stream.ts';
import { readUsage, responseTextBytes } from './answer/usage.ts';
import { translation } from './translation.ts';

/** Ollama's own chat (`/api/chat`). */
export const ollama: Codec = {
  ...translation,
  path: null,
  pathTemplate: { whole: '/api/chat', stream: '/api/chat' },
  stream,
  answerModel: 'model',
  readUsage,
  readFinishReason: finishReader({
    field: 'done_reason',
    maxDepth: { body: 1, stream: 1 },
    meaningOf,
    call: 'tool_calls',
  }),
  responseTextBytes,
  errorBody: openAiErrorBody,
  encodeError,
};
