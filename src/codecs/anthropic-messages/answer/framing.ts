import { splitFrames } from '../../../lib/streams/sse.ts';
import type { AnswerFraming } from '../../codec.ts';
import { parseObject } from '../../json/values.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { SSE_TYPE } from '../../stream/sse.ts';
import { assemble, framesOf } from './assemble.ts';
import { encodeErrorFrame, readEventError } from './error.ts';

/** How answers of the format are framed. */
export const framing: AnswerFraming = {
  contentType: SSE_TYPE,
  framing: 'sse',
  split: splitFrames,
  encode: encodeFrames,
  byDefault: false,
  readError: (frame) => readEventError(parseObject(frame.data), frame.data),
  encodeErrorFrame,
  endings: { cut: 'error-frame', reported: 'error-frame' },
  framesOf,
  assemble,
};
