import type { TranslationCodec } from '../codec.ts';
import { unsupportedBy } from '../openai-shared/models.ts';
import { framing } from './answer/framing.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { decodeRequest } from './request/decode.ts';
import { acceptedOnly, encodeRequest, names } from './request/encode.ts';
import { otherWords, readable } from './request/fields.ts';
import { requestFields } from './request/request-fields.ts';

/** OpenAI responses (`/v1/responses`), which Codex speaks. */
export const translation: TranslationCodec = {
  format: 'openai-responses',
  pathOf: null,
  requestFields,
  stream: framing,
  conversation: {
    decodeRequest,
    encodeRequest,
    reader,
    writer,
    names,
    acceptedOnly,
    readable,
    otherWords,
    unsupportedBy,
    vendorOnly: [],
    searchCalls: true,
    answerImages: false,
    prefill: false,
    tools: { custom: true, namespaces: true, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
};
