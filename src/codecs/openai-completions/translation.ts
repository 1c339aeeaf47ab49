import type { TranslationCodec } from '../codec.ts';
import { framing } from './answer/framing.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest, names, vendorOnly } from './request/encode.ts';
import { readable } from './request/fields.ts';
import { requestFields } from './request/request-fields.ts';

/** OpenAI's older text completions (`/v1/completions`), which editors use to fill in code. */
export const translation: TranslationCodec = {
  format: 'openai-completions',
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
    vendorOnly,
    // It has no tools: a request with some is refused before their names matter.
    searchCalls: false,
    answerImages: false,
    prefill: true,
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 64 },
  },
};
