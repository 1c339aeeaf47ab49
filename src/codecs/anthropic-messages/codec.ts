import { finishReader } from '../usage/finish-bytes.ts';
import type { Codec } from '../wire-codec.ts';
import { encodeError, errorBody } from './answer/error.ts';
import { meaningOf } from './answer/finish.ts';
import { stream } from './answer/stream.ts';
import { readTier, readUsage, responseTextBytes } from './answer/usage.ts';
import { counting } from './request/counting.ts';
import { exchange } from './request/exchange.ts';
import { history } from './request/history.ts';
import { translation } from './translation.ts';

/** Anthropic's messages (`/v1/messages`), which Claude Code speaks. */
export const anthropicMessages: Codec = {
  ...translation,
  path: '/messages',
  // Anthropic's SDKs ask for their beta surface, and Claude Code for all messages, by `?beta=true`.
  queryParameters: ['beta'],
  smallestRequest: { max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] },
  counting,
  history,
  exchange,
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
