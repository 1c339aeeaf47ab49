import type { Frame } from '../../../lib/streams/sse.ts';
import type { FrameMeaning, StreamCodec, StreamFacts } from '../../codec.ts';
import { fieldNeedle, lastIndexOfNeedle } from '../../json/needle.ts';
import { byteLengthOf, countIn, objectOf, parseObject, table, textOf } from '../../json/values.ts';
import { DONE, framesIn, judgeEnd } from '../../stream/frames.ts';
import { commentKeepAlive } from '../../stream/keep-alive.ts';
import type { ResponsesEvent } from '../wire.ts';
import { encodeFramesOf } from './encode.ts';
import { readEventError, typeOfEvent } from './error.ts';
import { framing } from './framing.ts';
import { countSearches, findStreamUsage, outputBytes, responseUsage } from './usage.ts';

/** OpenAI responses, streamed. */
export const stream: StreamCodec = {
  ...framing,
  classify: (frame) => meaningOf(frame),
  readStream,
  textBytes,
  keepAlive: commentKeepAlive,
  modelAt: { path: ['response', 'model'], once: false },
  encodeFramesOf,
};

/** Events that announce and commit to nothing; events that end the stream. All others are content. */
const meanings: Readonly<Record<string, FrameMeaning>> = table({
  'response.created': 'preamble',
  'response.queued': 'preamble',
  'response.in_progress': 'preamble',
  'response.output_item.added': 'preamble',
  'response.content_part.added': 'preamble',
  'response.reasoning_summary_part.added': 'preamble',
  'response.completed': 'end',
  'response.incomplete': 'end',
  'response.failed': 'error',
  error: 'error',
});

function meaningOf(frame: Frame): FrameMeaning {
  const data = frame.data.trim();
  if (data === '') return 'preamble';
  if (data === DONE) return 'end';
  return meanings[typeOf(frame)] ?? 'content';
}

/** The type as the vendor writes it: first in the data. */
const LEADING_TYPE = /^\s*\{\s*"type"\s*:\s*"([\w.:-]+)"/;

function typeOf(frame: Frame): string {
  const leading = LEADING_TYPE.exec(frame.data)?.[1];
  return leading ?? typeOfEvent(parseObject(frame.data), frame.event);
}

/** The first terminal event decides. A bare `[DONE]` does not: it also follows a response that was cut. */
function judge(frames: Frame[]): Pick<StreamFacts, 'end' | 'error'> | null {
  for (const frame of frames) {
    if (frame.data.trim() === DONE || !mayBeTerminal(frame)) continue;
    const event = parseObject(frame.data);
    const meaning = meaningOf(frame);
    // A terminal event that was cut is none, except for its name when that is all there is to an error.
    if (event === null && frame.event !== 'error') continue;
    if (meaning === 'end') return { end: 'complete', error: null };
    if (meaning === 'error') return { end: 'error', error: readEventError(event, frame.data) };
  }
  return null;
}

function mayBeTerminal(frame: Frame): boolean {
  if (frame.event !== '') return meanings[frame.event] !== 'preamble' && meanings[frame.event] !== undefined;
  return /"(?:response\.(?:completed|incomplete|failed)|error|base_resp|error_code|code)"/.test(frame.data);
}

function readStream(head: Uint8Array, tail: Uint8Array): StreamFacts {
  const streamUsage = findStreamUsage(tail) ?? findStreamUsage(head);
  const usage = streamUsage === null ? null : responseUsage(streamUsage.counts, searchesIn(tail));
  const end = judgeEnd(head, tail, judge);
  if (end !== null) return { usage, ...end };
  // A terminal event longer than the tail shows only its last part; only such an event has usage in it.
  return { usage, end: streamUsage?.closed ? 'complete' : 'cut', error: null };
}

const TERMINAL = [fieldNeedle('response.completed'), fieldNeedle('response.incomplete')];

/** Searches listed by the terminal event, as far as the tail holds it. */
function searchesIn(tail: Uint8Array): number {
  const start = Math.max(...TERMINAL.map((name) => lastIndexOfNeedle(tail, name)));
  return countSearches(start === -1 ? tail.subarray(0, 0) : tail.subarray(start));
}

/** Text comes in deltas; a vendor that sends none sends it whole in `.done`, or only in the terminal event. */
function textBytes(bytes: Uint8Array): number {
  const grown = new Set<string>();
  let sum = 0;
  let whole = 0;
  for (const frame of framesIn(bytes)) {
    const event = objectOf<ResponsesEvent>(parseObject(frame.data));
    const type = textOf(event.type);
    if (type.endsWith('.delta') && typeof event.delta === 'string') {
      grown.add(placeOf(event, type, '.delta'));
      sum += byteLengthOf(event.delta);
    } else if (type.endsWith('.done') && !grown.has(placeOf(event, type, '.done'))) {
      sum += doneBytes(event);
    } else if (meanings[type] === 'end') whole = outputBytes(objectOf(event.response));
  }
  return sum === 0 ? whole : sum;
}

/** Names the text that an event belongs to, so that a delta and its `.done` are known as one. */
function placeOf(event: ResponsesEvent, type: string, suffix: string): string {
  const indexes = [event.output_index, event.content_index, event.summary_index];
  return [type.slice(0, -suffix.length), ...indexes.map((index) => countIn(index) ?? '')].join(' ');
}

function doneBytes(event: ResponsesEvent): number {
  const { text, refusal, arguments: args, input, code } = event;
  return [text, refusal, args, input, code].reduce<number>(
    (sum, value) => sum + byteLengthOf(textOf(value)),
    0,
  );
}
