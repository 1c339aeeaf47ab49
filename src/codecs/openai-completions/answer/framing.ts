import { splitFrames } from '../../../lib/streams/sse.ts';
import type { AnswerFraming } from '../../codec.ts';
import { encodeChoiceError, readChoiceError } from '../../openai-shared/choice-stream.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { SSE_TYPE } from '../../stream/sse.ts';
import { assemble, framesOf } from './assemble.ts';

/** How answers of the format are framed. */
export const framing: AnswerFraming = {
  contentType: SSE_TYPE,
  framing: 'sse',
  split: splitFrames,
  encode: encodeFrames,
  byDefault: false,
  readError: readChoiceError,
  encodeErrorFrame: encodeChoiceError,
  endings: { cut: 'reset', reported: 'reset' },
  framesOf,
  assemble,
};
