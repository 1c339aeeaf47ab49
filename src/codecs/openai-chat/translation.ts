import type { TranslationCodec } from '../codec.ts';
import { unsupportedBy } from '../openai-shared/models.ts';
import { markCache } from './cache-marks.ts';
import { framing } from './framing.ts';
import { otherWords, readable } from './members.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, heard, names, onTrial, vendorOnly } from './request-encode.ts';
import { requestFields } from './request-fields.ts';
import { writer } from './writer.ts';

/** OpenAI chat completions (`/v1/chat/completions`), the format most providers speak. */
export const translation: TranslationCodec = {
  format: 'openai-chat',
  pathOf: null,
  requestFields,
  stream: framing,
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
};
