import type { Codec } from '../codec.ts';
import { counting } from './counting.ts';
import { encodeError, errorBody } from './error.ts';
import { history } from './history.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readTier, readUsage, responseTextBytes } from './usage.ts';

/** Anthropic's messages (`/v1/messages`), which Claude Code speaks. */
export const anthropicMessages: Codec = {
  ...translation,
  path: '/messages',
  counting,
  history,
  stream,
  answerModel: 'model',
  readUsage,
  readTier,
  responseTextBytes,
  errorBody,
  encodeError,
};
