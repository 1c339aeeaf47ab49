import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';
import { stream } from './stream.ts';
import { translation } from './translation.ts';
import { readTier, readUsage, responseTextBytes } from './usage.ts';

/** Anthropic's messages (`/v1/messages`), which Claude Code speaks. */
export const anthropicMessages: Codec = {
  ...translation,
  stream,
  answerModel: 'model',
  readUsage,
  readTier,
  responseTextBytes,
  encodeError,
};
