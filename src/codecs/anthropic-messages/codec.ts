import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';
import { lacks } from './models.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, names } from './request-encode.ts';
import { stream } from './stream.ts';
import { readUsage, responseTextBytes } from './usage.ts';
import { writer } from './writer.ts';

/** Anthropic's messages (`/v1/messages`), which Claude Code speaks. */
export const anthropicMessages: Codec = {
  format: 'anthropic-messages',
  pathOf: null,
  stream,
  conversation: {
    decodeRequest,
    encodeRequest,
    reader,
    writer,
    names,
    lacks,
    vendorOnly: [],
    searchCalls: false,
    answerImages: false,
    prefill: true,
    blindTo: 'read',
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 128 },
  },
  answerModel: 'model',
  readUsage,
  responseTextBytes,
  encodeError,
};
