import type { Codec } from '../codec.ts';

/** Ollama's own chat (`/api/chat`). */
export const ollama: Codec = {
  format: 'ollama',
  pathOf: null,
  stream: null,
  conversation: null,
  readUsage: () => null,
  responseTextBytes: () => 0,
  encodeError: ({ message }) => ({ error: message }),
};
