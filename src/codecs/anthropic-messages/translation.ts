import type { TranslationCodec } from '../codec.ts';
import { MAX_MARKS } from '../prompt-cache/cache-worth.ts';
import { framing } from './answer/framing.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { MARKED_TURNS, markCache } from './request/cache-marks.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest, names, vendorOnly } from './request/encode.ts';
import { otherWords, readable } from './request/fields.ts';
import { unsupportedBy } from './request/models.ts';
import { requestFields } from './request/request-fields.ts';
import { fitOutputCap } from './request/thinking-budget.ts';
import { addsTurn } from './request/turns.ts';

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
    markedTurns: () => MARKED_TURNS,
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
