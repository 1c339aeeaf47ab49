import type { Codec } from '../codec.ts';
import { readChoiceTier, readChoiceUsage } from '../openai-shared/choice-stream.ts';
import { openAiError } from '../openai-shared/error.ts';
import { unsupportedBy } from '../openai-shared/models.ts';
import { markCache } from './cache-marks.ts';
import { otherWords, readable } from './members.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, heard, names, onTrial, vendorOnly } from './request-encode.ts';
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
    markCache,
    reader,
    writer,
    names,
    readable,
    otherWords,
    unsupportedBy,
    acceptedOnly: heard,
    vendorOnly,
    onTrial,
    searchCalls: false,
    answerImages: false,
    prefill: 'dialect',
    opaqueText: 'written',
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
  answerModel: 'model',
  readUsage: readChoiceUsage,
  readTier: readChoiceTier,
  responseTextBytes,
  encodeError: openAiError,
};
