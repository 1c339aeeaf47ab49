import { splitFrames } from '../../../lib/streams/sse.ts';
import type { AnswerFraming } from '../../codec.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { SSE_TYPE } from '../../stream/sse.ts';
import { assemble, framesOf } from './assemble.ts';
import { encodeErrorFrame, readError } from './error.ts';

/** How answers of the format are framed. */
export const framing: AnswerFraming = {
  contentType: SSE_TYPE,
  framing: 'sse',
  split: splitFrames,
  encode: encodeFrames,
  byDefault: false,
  readError,
  encodeErrorFrame,
  // Its clients try again after either, but for an error that no second try would cure.
  endings: { cut: 'reset', reported: 'error-frame' },
  framesOf,
  assemble,
};
