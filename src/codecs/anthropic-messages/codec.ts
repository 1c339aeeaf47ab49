import { finishReader } from '../usage/finish-bytes.ts';
import type { Codec } from '../wire-codec.ts';
import { encodeError, errorBody } from './answer/error.ts';
import { meaningOf } from './answer/finish.ts';
import { stream } from './answer/stream.ts';
import { readTier, readUsage, responseTextBytes } from './answer/usage.ts';
import { counting } from './request/counting.ts';
import { history } from './request/history.ts';
import { translation } from './translation.ts';

/** Anthropic's messages (`/v1/messages`), which Claude Code speaks. */
export const anthropicMessages: Codec = {
  ...translation,
  path: '/messages',
  counting,
  history,
  stream,
  answerModel: 'model',
  readUsage,
  readTier,
  readFinishReason: finishReader({
    field: 'stop_reason',
    maxDepth: { body: 1, stream: 2 },
    meaningOf,
  }),
  responseTextBytes,
  errorBody,
  encodeError,
};
