import type { Codec } from '../codec.ts';
import { readChoiceTier, readChoiceUsage } from '../openai-shared/choice-stream.ts';
import { openAiError } from '../openai-shared/error.ts';
import { readable } from './members.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, names, vendorOnly } from './request-encode.ts';
import { stream } from './stream.ts';
import { responseTextBytes } from './text.ts';
import { writer } from './writer.ts';

/** OpenAI's older text completions (`/v1/completions`), which editors use to fill in code. */
export const openaiCompletions: Codec = {
  format: 'openai-completions',
  pathOf: null,
  stream,
  conversation: {
    decodeRequest,
    encodeRequest,
    reader,
    writer,
    names,
    readable,
    vendorOnly,
    // It has no tools: a request with some is refused before their names matter.
    searchCalls: false,
    answerImages: false,
    prefill: true,
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
  answerModel: 'model',
  readUsage: readChoiceUsage,
  readTier: readChoiceTier,
  responseTextBytes,
  encodeError: openAiError,
};
