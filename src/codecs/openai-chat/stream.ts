import type { StreamCodec } from '../codec.ts';
import { isObject, type JsonObject, objectOf } from '../json/values.ts';
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
import { writtenBytes } from './text.ts';

/** OpenAI chat completions, streamed. */
export const stream: StreamCodec = {
  ...sseFraming,
  classify: (frame) => classifyChoices(frame, carriesContent),
  readError: readChoiceError,
  readStream: readChoiceStream,
  textBytes: (bytes) => sumChoices(bytes, (choice) => writtenBytes(deltaOf(choice))),
  keepAlive: commentKeepAlive,
  encodeErrorFrame: encodeChoiceError,
  // More agents try again after a reset than after an error record, which several take for the answer's end.
  endings: { cut: 'reset', reported: 'reset' },
  modelAt: { path: ['model'], once: false },
  framesOf,
  encodeFramesOf,
  assemble,
};

/** Some vendors send the whole `message` in a chunk instead of a delta. */
export function deltaOf(choice: JsonObject): JsonObject {
  return isObject(choice['delta']) ? choice['delta'] : objectOf(choice['message']);
}

/** True when the delta holds more than a role and empty values. */
function carriesContent(choice: JsonObject): boolean {
  return Object.entries(deltaOf(choice)).some(([key, value]) => key !== 'role' && !isEmpty(value));
}

export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
