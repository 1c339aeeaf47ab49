import type { StreamCodec } from '../../codec.ts';
import { byteLengthOf, textOf } from '../../json/values.ts';
import { classifyChoices, readChoiceStream, sumChoices } from '../../openai-shared/choice-stream.ts';
import { commentKeepAlive } from '../../stream/keep-alive.ts';
import type { CompletionsChoice } from '../wire.ts';
import { encodeFramesOf } from './assemble.ts';
import { framing } from './framing.ts';

/** OpenAI's older text completions, streamed. */
export const stream: StreamCodec = {
  ...framing,
  classify: (frame) => classifyChoices(frame, ({ text }: CompletionsChoice) => textOf(text) !== ''),
  readStream: readChoiceStream,
  textBytes: (bytes) => sumChoices(bytes, ({ text }: CompletionsChoice) => byteLengthOf(text)),
  keepAlive: commentKeepAlive,
  modelAt: { path: ['model'], once: false },
  encodeFramesOf,
};
