import type { FrameMeaning, StreamCodec, StreamFacts } from '../../codec.ts';
import { objectOf, parseObject } from '../../json/values.ts';
import type { OllamaAnswer, OllamaMessage } from '../wire.ts';
import { encodeFramesOf } from './assemble.ts';
import { isErrorLine, readError } from './error.ts';
import { framing } from './framing.ts';
import { linesIn } from './json-lines.ts';
import { countersUsage, writtenBytes } from './usage.ts';

/** Ollama's chat, streamed: what it does unless a request says otherwise. */
export const stream: StreamCodec = {
  ...framing,
  classify: (frame) => meaningOf(parseObject(frame.data)),
  readStream: (head, tail) => factsIn(tail) ?? factsIn(head) ?? { usage: null, end: 'cut', error: null },
  textBytes: (bytes) =>
    linesIn(bytes).reduce(
      (sum, { data }) => sum + writtenBytes(objectOf(objectOf<OllamaAnswer>(parseObject(data)).message)),
      0,
    ),
  // The vendor's clients print a warning for a line that is no JSON, and take any object for a piece of the answer.
  keepAlive: null,
  modelAt: { path: ['model'], once: false },
  encodeFramesOf,
};

function meaningOf(line: OllamaAnswer | null): FrameMeaning {
  if (line === null) return 'content';
  if (isErrorLine(line)) return 'error';
  if (line.done === true) return 'end';
  return carriesContent(objectOf(line.message)) ? 'content' : 'preamble';
}

/** Fields of a message that make a line worth something to the client. */
const carriers = ['content', 'thinking', 'tool_calls', 'images'] as const;

function carriesContent(message: OllamaMessage): boolean {
  return carriers.some((name) => {
    const value = message[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
  });
}

/** Most lines need no parsing: generated text cannot hold these words in bare quotes. */
const TERMINAL = /"done"\s*:\s*true|"error"/;

/** What the first terminal line says; what follows it is noise. Null when there is none. */
function factsIn(bytes: Uint8Array): StreamFacts | null {
  for (const frame of linesIn(bytes)) {
    if (!TERMINAL.test(frame.data)) continue;
    const line: OllamaAnswer | null = parseObject(frame.data);
    const meaning = line === null ? 'content' : meaningOf(line);
    if (meaning === 'end') return { usage: countersUsage(line ?? {}), end: 'complete', error: null };
    if (meaning === 'error') return { usage: null, end: 'error', error: readError(frame) };
  }
  return null;
}
