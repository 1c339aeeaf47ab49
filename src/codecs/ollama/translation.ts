import type { TranslationCodec } from '../codec.ts';
import { framing } from './answer/framing.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest, names } from './request/encode.ts';
import { readable } from './request/fields.ts';
import { requestFields } from './request/request-fields.ts';

/** Ollama's own chat (`/api/chat`). */
export const translation: TranslationCodec = {
  format: 'ollama',
  pathOf: null,
  requestFields,
  stream: framing,
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
};
