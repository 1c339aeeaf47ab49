import type { Codec } from '../codec.ts';
import { openAiError } from '../openai-shared/error.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readTier, readUsage, responseTextBytes } from './usage.ts';

/** OpenAI responses (`/v1/responses`), which Codex speaks. */
export const openaiResponses: Codec = {
  ...translation,
  stream,
  answerModel: 'model',
  readUsage,
  readTier,
  responseTextBytes,
  encodeError: openAiError,
};
