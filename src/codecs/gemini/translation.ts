import type { TranslationCodec } from '../codec.ts';
import { framing } from './framing.ts';
import { otherWords, readable } from './members.ts';
import { unsupportedBy } from './models.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, heard, names, toolRules, vendorOnly } from './request-encode.ts';
import { requestFields } from './request-fields.ts';
import { addsTurn } from './turns.ts';
import { camelName } from './wire-names.ts';
import { writer } from './writer.ts';

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
    acceptedOnly: heard,
    vendorOnly,
    unsupportedBy,
    searchCalls: false,
    answerImages: true,
    prefill: true,
    tools: toolRules,
  },
};
