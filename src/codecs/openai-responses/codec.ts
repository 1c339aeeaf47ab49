import type { Codec } from '../codec.ts';
import { openAiError } from '../openai-error.ts';
import { stream } from './stream.ts';
import { readUsage, responseTextBytes } from './usage.ts';

/** OpenAI responses (`/v1/responses`), which Codex speaks. */
export const openaiResponses: Codec = {
  format: 'openai-responses',
  stream,
  conversation: null,
  readUsage,
  responseTextBytes,
  encodeError: openAiError,
};
