import { readChoiceUsage } from '../choice-stream.ts';
import type { Codec } from '../codec.ts';
import { openAiError } from '../openai-error.ts';
import { stream } from './stream.ts';
import { responseTextBytes } from './text.ts';

/** OpenAI's older text completions (`/v1/completions`), which editors use to fill in code. */
export const openaiCompletions: Codec = {
  format: 'openai-completions',
  pathOf: null,
  stream,
  conversation: null,
  readUsage: readChoiceUsage,
  responseTextBytes,
  encodeError: openAiError,
};
