import type { TranslationCodec } from '../codec.ts';
import { MAX_MARKS } from '../prompt-cache/cache-worth.ts';
import { markCache } from './cache-marks.ts';
import { framing } from './framing.ts';
import { otherWords, readable } from './members.ts';
import { unsupportedBy } from './models.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest, names, vendorOnly } from './request-encode.ts';
import { requestFields } from './request-fields.ts';
import { fitOutputCap } from './thinking-budget.ts';
import { addsTurn } from './turns.ts';
import { writer } from './writer.ts';

/** Anthropic's messages (`/v1/messages`), which Claude Code speaks. */
export const translation: TranslationCodec = {
  format: 'anthropic-messages',
  pathOf: null,
  requestFields,
  stream: framing,
  conversation: {
    decodeRequest,
    fitOutputCap,
    encodeRequest,
    markCache,
    mostCacheMarks: MAX_MARKS,
    reader,
    writer,
    names,
    readable,
    addsTurn,
    otherWords,
    unsupportedBy,
    vendorOnly,
    searchCalls: false,
    answerImages: false,
    prefill: true,
    opaqueText: 'read',
    tools: { custom: false, namespaces: false, name: /^[a-zA-Z0-9_-]+$/, maxName: 128 },
  },
};
