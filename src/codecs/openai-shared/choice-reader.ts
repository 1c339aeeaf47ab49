import type { Frame } from '../../lib/streams/sse.ts';
import type { ReportedError } from '../codec.ts';
import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject, listOf } from '../json/values.ts';
import type { PartReader, StreamPart } from '../model/stream-part.ts';
import { isDone, objectIn, ValueFrame } from '../stream/frames.ts';
import { isErrorChunk, readChoiceError } from './choice-stream.ts';
import type { ChoiceChunk, WireChoice } from './wire.ts';

/** What the formats of choices differ in: the answer that is being read. */
export interface ChoiceAnswer {
  /** Whether a choice has come. */
  readonly answered: boolean;
  /** Whether there was a finish reason. */
  readonly finished: boolean;
  /** Whether its usage was reported. */
  readonly counted: boolean;
  chunk(chunk: ChoiceChunk): StreamPart[];
  /** The parts of a record that is understood without the parser; null for any other. */
  readByTemplate?(data: string): StreamPart[] | null;
  /** Called with a record before its chunk is read, to recognize similar ones. */
  seen?(data: string): void;
  /** A chunk from after the end, of which only the usage counts. */
  late(chunk: ChoiceChunk): void;
  /** What the end brings; an error where the answer was none. */
  finish(): StreamPart[] | ReportedError;
}

/** Reads the frames of a stream of choices up to `[DONE]`; some send the usage after it. */
export function choiceReader(answer: ChoiceAnswer): PartReader {
  let done = false;
  let ended = false;

  const fail = (error: ReportedError): StreamPart[] => {
    ended = true;
    return [{ type: 'error', error }];
  };
  const finish = (): StreamPart[] => {
    if (!answer.answered) return fail({ status: 502, message: 'The upstream sent an empty stream' });
    const last = answer.finish();
    if (!Array.isArray(last)) return fail(last);
    ended = true;
    return last;
  };
  const onDone = (): StreamPart[] => {
    if (!answer.answered || answer.counted || done) return finish();
    done = true;
    return [];
  };
  return {
    push(frame: Pick<Frame, 'event' | 'data'>) {
      if (ended) return [];
      const written = !(frame instanceof ValueFrame);
      if (written && answer.answered && !done && frame.event === '') {
        const parts = answer.readByTemplate?.(frame.data) ?? null;
        if (parts !== null) return parts;
      }
      if (written && frame.data.trim() === '') return [];
      if (isDone(frame)) return onDone();
      const chunk = objectIn(frame);
      if (done) {
        if (chunk !== null) answer.late(chunk);
        return finish();
      }
      if (isErrorChunk(frame, chunk)) return fail(readChoiceError(frame));
      if (chunk === null) return [];
      if (written) answer.seen?.(frame.data);
      return answer.chunk(chunk);
    },
    end() {
      if (ended) return [];
      if (done || answer.finished) return finish();
      return fail({ status: 502, message: 'The upstream ended its stream without its final event' });
    },
  };
}

/** The choice that is read: the first one. More than one is refused before (`n`). */
export function firstChoice(chunk: ChoiceChunk): JsonObject | undefined {
  return listOf(chunk.choices)
    .filter(isObject)
    .find(({ index }: WireChoice) => (numberOf(index) ?? 0) === 0);
}

/** An answer whose reason to end is an error. */
export const endedWithError: ReportedError = {
  status: 502,
  message: 'The upstream ended its answer with an error',
};
