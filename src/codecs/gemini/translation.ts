import type { TranslationCodec } from '../codec.ts';
import { framing } from './answer/framing.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { decodeRequest } from './request/decode.ts';
import { acceptedOnly, encodeRequest, names, toolRules, vendorOnly } from './request/encode.ts';
import { otherWords, readable } from './request/fields.ts';
import { unsupportedBy } from './request/models.ts';
import { requestFields } from './request/request-fields.ts';
import { addsTurn } from './request/turns.ts';
import { camelName } from './wire-names.ts';

/** Google's Gemini API (`models/{model}:generateContent` and `:streamGenerateContent`), which Gemini CLI speaks. */
export const translation: TranslationCodec = {
  format: 'gemini',
  pathOf: (model, stream) => `/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  requestFields,
  stream: framing,
  conversation: {
    decodeRequest,
    encodeRequest,
    reader,
    writer,
    names,
    readable,
    addsTurn,
    otherWords,
    spelling: camelName,
    acceptedOnly,
    vendorOnly,
    unsupportedBy,
    searchCalls: false,
    answerImages: true,
    prefill: true,
    tools: toolRules,
  },
};
