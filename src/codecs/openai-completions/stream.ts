import type { StreamCodec } from '../codec.ts';
import { byteLengthOf, textOf } from '../json/values.ts';
import {
  classifyChoices,
  encodeChoiceError,
  readChoiceError,
  readChoiceStream,
  sumChoices,
} from '../openai-shared/choice-stream.ts';
import { commentKeepAlive } from '../stream/keep-alive.ts';
import { sseFraming } from '../stream/sse.ts';
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
  endings: { cut: 'reset', reported: 'reset' },
  modelAt: { path: ['model'], once: false },
  framesOf,
  encodeFramesOf,
  assemble,
};
