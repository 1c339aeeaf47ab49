import type { Codec } from '../codec.ts';
import { encodeError } from './error.ts';
import { readable } from './members.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, names } from './request-encode.ts';
import { stream } from './stream.ts';
import { readUsage, responseTextBytes } from './usage.ts';
import { writer } from './writer.ts';

/** Ollama's own chat (`/api/chat`). */
export const ollama: Codec = {
  format: 'ollama',
  pathOf: null,
  stream,
  conversation: {
    decodeRequest,
    encodeRequest,
    reader,
    writer,
    names,
    readable,
    vendorOnly: [],
    searchCalls: false,
    answerImages: true,
    prefill: true,
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
  answerModel: 'model',
  readUsage,
  responseTextBytes,
  encodeError,
};
