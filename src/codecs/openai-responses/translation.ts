import type { TranslationCodec } from '../codec.ts';
import { unsupportedBy } from '../openai-shared/models.ts';
import { framing } from './framing.ts';
import { otherWords, readable } from './members.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, heard, names } from './request-encode.ts';
import { requestFields } from './request-fields.ts';
import { writer } from './writer.ts';

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
    acceptedOnly: heard,
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
