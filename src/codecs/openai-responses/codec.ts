import type { Codec } from '../codec.ts';
import { openAiError } from '../openai-shared/error.ts';
import { unsupportedBy } from '../openai-shared/models.ts';
import { otherWords, readable } from './members.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, heard, names } from './request-encode.ts';
import { stream } from './stream.ts';
import { readTier, readUsage, responseTextBytes } from './usage.ts';
import { writer } from './writer.ts';

/** OpenAI responses (`/v1/responses`), which Codex speaks. */
export const openaiResponses: Codec = {
  format: 'openai-responses',
  pathOf: null,
  stream,
  conversation: {
    decodeRequest,
    encodeRequest,
    reader,
    writer,
    names,
    acceptedOnly: heard,
    readable,
    otherWords,
    unsupportedBy,
    vendorOnly: [],
    searchCalls: true,
    answerImages: false,
    prefill: false,
    tools: { custom: true, namespaces: true, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
  answerModel: 'model',
  readUsage,
  readTier,
  responseTextBytes,
  encodeError: openAiError,
};
