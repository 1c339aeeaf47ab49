import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';
import { stream } from './stream.ts';
import { readUsage, responseTextBytes } from './usage.ts';

/** Anthropic's messages (`/v1/messages`), which Claude Code speaks. */
export const anthropicMessages: Codec = {
  format: 'anthropic-messages',
  stream,
  conversation: null,
  readUsage,
  responseTextBytes,
  encodeError,
};
