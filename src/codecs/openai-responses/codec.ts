import type { Codec } from '../codec.ts';
import { openAiError, openAiErrorBody } from '../openai-shared/error.ts';
import { counting } from './counting.ts';
import { history } from './history.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readTier, readUsage, responseTextBytes } from './usage.ts';

/** OpenAI responses (`/v1/responses`), which Codex speaks. */
export const openaiResponses: Codec = {
  ...translation,
  path: '/responses',
  counting,
  history,
  stream,
  answerModel: 'model',
  readUsage,
  readTier,
  responseTextBytes,
  errorBody: openAiErrorBody,
  encodeError: openAiError,
};
