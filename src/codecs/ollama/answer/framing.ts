import type { AnswerFraming } from '../../codec.ts';
import { assemble, framesOf } from './assemble.ts';
import { encodeErrorFrame, readError } from './error.ts';
import { encodeLines, splitLines } from './json-lines.ts';

/** How answers of the format are framed. */
export const framing: AnswerFraming = {
  contentType: 'application/x-ndjson',
  framing: 'lines',
  split: splitLines,
  encode: encodeLines,
  byDefault: true,
  readError,
  encodeErrorFrame,
  // A line with an error is shown to the user as the vendor's failure; a broken connection is retried.
  endings: { cut: 'reset', reported: 'error-frame' },
  framesOf,
  assemble,
};
