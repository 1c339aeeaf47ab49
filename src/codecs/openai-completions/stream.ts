import {
  classifyChoices,
  encodeChoiceError,
  readChoiceError,
  readChoiceStream,
  sumChoices,
} from '../choice-stream.ts';
import type { StreamCodec } from '../codec.ts';
import { commentKeepAlive } from '../keep-alive.ts';
import { sseFraming } from '../sse-framing.ts';
import { byteLengthOf, textOf } from '../values.ts';
import { assemble, encodeFramesOf, framesOf } from './assemble.ts';

/** OpenAI's older text completions, streamed. */
export const stream: StreamCodec = {
  ...sseFraming,
  classify: (frame) => classifyChoices(frame, (choice) => textOf(choice['text']) !== ''),
  readError: readChoiceError,
  readStream: readChoiceStream,
  textBytes: (bytes) => sumChoices(bytes, (choice) => byteLengthOf(choice['text'])),
  keepAlive: commentKeepAlive,
  encodeErrorFrame: encodeChoiceError,
  cutEnding: 'reset',
  modelAt: { path: ['model'], once: false },
  framesOf,
  encodeFramesOf,
  assemble,
};
