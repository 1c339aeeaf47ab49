import type { Codec } from '../codec.ts';
import { readChoiceTier, readChoiceUsage } from '../openai-shared/choice-stream.ts';
import { openAiError } from '../openai-shared/error.ts';
import { stream } from './stream.ts';
import { responseTextBytes } from './text.ts';
import { translation } from './translation.ts';

/** OpenAI chat completions (`/v1/chat/completions`), the format most providers speak. */
export const openaiChat: Codec = {
  ...translation,
  stream,
  answerModel: 'model',
  readUsage: readChoiceUsage,
  readTier: readChoiceTier,
  responseTextBytes,
  encodeError: openAiError,
};
