import type { StreamCodec } from '../../codec.ts';
import { classifyChoices, readChoiceStream, sumChoices } from '../../openai-shared/choice-stream.ts';
import { commentKeepAlive } from '../../stream/keep-alive.ts';
import { writtenBytes } from '../text.ts';
import type { ChatChoice } from '../wire.ts';
import { encodeFramesOf } from './assemble.ts';
import { deltaOf, isEmpty } from './delta.ts';
import { framing } from './framing.ts';

/** OpenAI chat completions, streamed. */
export const stream: StreamCodec = {
  ...framing,
  classify: (frame) => classifyChoices(frame, carriesContent),
  readStream: readChoiceStream,
  textBytes: (bytes) => sumChoices(bytes, (choice) => writtenBytes(deltaOf(choice))),
  keepAlive: commentKeepAlive,
  modelAt: { path: ['model'], once: false },
  encodeFramesOf,
};

/** True when the delta holds more than a role and empty values. */
function carriesContent(choice: ChatChoice): boolean {
  return Object.entries(deltaOf(choice)).some(([key, value]) => key !== 'role' && !isEmpty(value));
}
