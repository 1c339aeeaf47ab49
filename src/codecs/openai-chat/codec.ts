import { readChoiceUsage } from '../choice-stream.ts';
import type { Codec } from '../codec.ts';
import { openAiError } from '../openai-error.ts';
import { stream } from './stream.ts';
import { responseTextBytes } from './text.ts';

/** OpenAI chat completions (`/v1/chat/completions`), the format most providers speak. */
export const openaiChat: Codec = {
  format: 'openai-chat',
  stream,
  conversation: null,
  readUsage: readChoiceUsage,
  responseTextBytes,
  encodeError: openAiError,
};
