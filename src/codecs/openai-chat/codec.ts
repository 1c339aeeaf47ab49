import { readChoiceUsage } from '../choice-stream.ts';
import type { Codec } from '../codec.ts';
import { openAiError } from '../openai-error.ts';
import { lacks } from '../openai-models.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, heard, names, vendorOnly } from './request-encode.ts';
import { stream } from './stream.ts';
import { responseTextBytes } from './text.ts';
import { writer } from './writer.ts';

/** OpenAI chat completions (`/v1/chat/completions`), the format most providers speak. */
export const openaiChat: Codec = {
  format: 'openai-chat',
  pathOf: null,
  stream,
  conversation: {
    decodeRequest,
    encodeRequest,
    reader,
    writer,
    names,
    lacks,
    heard,
    vendorOnly,
    searchCalls: false,
    answerImages: false,
    prefill: 'dialect',
    blindTo: 'written',
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
  answerModel: 'model',
  readUsage: readChoiceUsage,
  responseTextBytes,
  encodeError: openAiError,
};
