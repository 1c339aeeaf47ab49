import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import type { Codec } from '../wire-codec.ts';
import { readFinishReason } from './answer/read-finish.ts';
import { stream } from './answer/stream.ts';
import { readTier, readUsage, responseTextBytes } from './answer/usage.ts';
import { counting } from './request/counting.ts';
import { exchange } from './request/exchange.ts';
import { history } from './request/history.ts';
import { translation } from './translation.ts';

/** OpenAI responses (`/v1/responses`), which Codex speaks. */
export const openaiResponses: Codec = {
  ...translation,
  path: '/responses',
  counting,
  history,
  exchange,
  stream,
  answerModel: 'model',
  readUsage,
  readTier,
  readFinishReason,
  responseTextBytes,
  errorBody: openAiErrorBody,
  encodeError: openAiError,
};
