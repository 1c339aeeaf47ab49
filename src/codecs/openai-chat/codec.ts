import type { Codec } from '../codec.ts';
import { readChoiceTier, readChoiceUsage } from '../openai-shared/choice-stream.ts';
import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { history } from './history.ts';
import { stream } from './stream.ts';
import { responseTextBytes } from './text.ts';
import { translation } from './translation.ts';

/** OpenAI chat completions (`/v1/chat/completions`), the format most providers speak. */
export const openaiChat: Codec = {
  ...translation,
  path: '/chat/completions',
  history,
  stream,
  answerModel: 'model',
  readUsage: readChoiceUsage,
  readTier: readChoiceTier,
  responseTextBytes,
  errorBody: openAiErrorBody,
  encodeError: openAiError,
};
