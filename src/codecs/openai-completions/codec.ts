import { readChoiceTier, readChoiceUsage } from '../openai-shared/choice-stream.ts';
import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { finishReader } from '../usage/finish-bytes.ts';
import type { Codec } from '../wire-codec.ts';
import { meaningOf } from './answer/finish.ts';
import { stream } from './answer/stream.ts';
import { responseTextBytes } from './text.ts';
import { translation } from './translation.ts';

/** OpenAI's older text completions (`/v1/completions`), which editors use to fill in code. */
export const openaiCompletions: Codec = {
  ...translation,
  path: '/completions',
  operation: 'text_completion',
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
