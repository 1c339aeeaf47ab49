import { readChoiceTier, readChoiceUsage } from '../openai-shared/choice-stream.ts';
import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { finishReader } from '../usage/finish-bytes.ts';
import type { Codec } from '../wire-codec.ts';
import { meaningOf } from './answer/finish.ts';
import { stream } from './answer/stream.ts';
import { exchange } from './request/exchange.ts';
import { history } from './request/history.ts';
import { responseTextBytes } from './text.ts';
import { translation } from './translation.ts';

/** OpenAI chat completions (`/v1/chat/completions`), the format most providers speak. */
export const openaiChat: Codec = {
  ...translation,
  path: '/chat/completions',
  smallestRequest: { max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] },
  history,
  exchange,
  stream,
  answerModel: 'model',
  readUsage: readChoiceUsage,
  readTier: readChoiceTier,
  readFinishReason: finishReader({
    field: 'finish_reason',
    maxDepth: { body: 3, stream: 3 },
    meaningOf,
  }),
  responseTextBytes,
  errorBody: openAiErrorBody,
  encodeError: openAiError,
};
