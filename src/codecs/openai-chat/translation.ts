import type { TranslationCodec } from '../codec.ts';
import { unsupportedBy } from '../openai-shared/models.ts';
import { framing } from './answer/framing.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { markCache, markedTurns } from './request/cache-marks.ts';
import { decodeRequest } from './request/decode.ts';
import { acceptedOnly, encodeRequest, names, onTrial, vendorOnly } from './request/encode.ts';
import { otherWords, readable } from './request/fields.ts';
import { requestFields } from './request/request-fields.ts';

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
    markedTurns,
    reader,
    writer,
    names,
    readable,
    otherWords,
    unsupportedBy,
    acceptedOnly,
    vendorOnly,
    onTrial,
    searchCalls: false,
    answerImages: false,
    prefill: 'dialect',
    opaqueText: 'written',
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
};
