import type { Codec } from '../wire-codec.ts';
import { encodeError, errorBody } from './answer/error.ts';
import { readFinishReason } from './answer/read-finish.ts';
import { stream } from './answer/stream.ts';
import { readTier, readUsage, responseTextBytes } from './answer/usage.ts';
import { counting } from './request/counting.ts';
import { exchange } from './request/exchange.ts';
import { history } from './request/history.ts';
import { translation } from './translation.ts';

/** Google's Gemini API (`models/{model}:generateContent` and `:streamGenerateContent`), which Gemini CLI speaks. */
export const gemini: Codec = {
  ...translation,
  path: null,
  pathTemplate: {
    whole: '/v1beta/models/{model}:generateContent',
    stream: '/v1beta/models/{model}:streamGenerateContent',
  },
  operation: 'generate_content',
  smallestRequest: {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens: 1 },
  },
  counting,
  history,
  exchange,
  stream,
  answerModel: 'modelVersion',
  readUsage,
  readTier,
  readFinishReason,
  responseTextBytes,
  errorBody,
  encodeError,
};
