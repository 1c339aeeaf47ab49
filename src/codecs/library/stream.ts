import { utf8Bytes, utf8Text } from '../../lib/bytes.ts';
import { GatewayError } from '../../lib/error.ts';
import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import type { Frame } from '../../lib/streams/sse.ts';
import { parseObject } from '../json/values.ts';
import type { PartReader, StreamPart } from '../model/stream-part.ts';
import type { Usage } from '../wire-format.ts';
import { framesFor, partsFor } from './answer.ts';
import type { AnswerOptions } from './answer-options.ts';
import { TranslationError } from './error.ts';
import { type KeptRequest, keptRequest } from './kept-request.ts';
import type { AnswerContext } from './request.ts';

/** Reads an upstream's stream, however its bytes are cut, into parts that are of no vendor's format. */
export interface AnswerReader {
  /** The parts that these bytes complete. After one of the type `message-end` or `error` there are no more. */
  push(bytes: Uint8Array): StreamPart[];
  /** The parts that the end of the stream brings: of the type `error` where it was cut. */
  end(): StreamPart[];
}

/** Writes parts as a stream of the client's format. */
export interface AnswerWriter {
  /** The text for the client; '' where the part gives none. An error becomes the format's own error event. */
  push(part: StreamPart): string;
  /** What the answer used, as far as the upstream has reported it; null before that. */
  usage(): Usage | null;
}

/** A stream to be translated. */
export interface StreamOptions extends AnswerOptions {
  /** What `translateRequest` returned for the request that is answered. */
  request: AnswerContext;
  /**
   * What a failure becomes after the stream has begun. `event`, where absent: the error event of the client's format, after
   * which the stream ends. `throw`: the stream fails with a `TranslationError`, so that a server can reset its
   * connection, which more clients try again after.
   */
  failures?: 'event' | 'throw';
  /** Called once when the answer has come to its end, with what it used; null where the upstream did not say. */
  onUsage?(usage: Usage | null): void;
}

/** Bytes of one record of a stream, or of a whole answer, at most. */
const MAX_BYTES = 16 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Reads the answer to a translated request. Where the upstream answers with one JSON document although it was asked for a
 * stream, its parts come at the end.
 * @throws TranslationError for a `request` that `translateRequest` did not return
 */
export function createAnswerReader(request: AnswerContext): AnswerReader {
  const requestCopy = keptRequest(request);
  const parts = partsFor(requestCopy);
  const { stream } = requestCopy.upstream;
  const buffer = new FrameBuffer<Uint8Array>((bytes) => stream.split(bytes));
  let shape: 'unknown' | 'stream' | 'whole' = stream.framing === 'lines' ? 'stream' : 'unknown';
  let over = false;

  const asFarAsEnd = (all: StreamPart[]): StreamPart[] => {
    const end = all.findIndex(({ type }) => type === 'message-end' || type === 'error');
    if (end !== -1) over = true;
    return end === -1 ? all : all.slice(0, end + 1);
  };
  const read = (frames: readonly Frame[]): StreamPart[] =>
    asFarAsEnd(frames.flatMap((frame) => parts.push(frame)));
  return {
    push(bytes) {
      if (over) return [];
      if (shape === 'unknown') shape = shapeOf(bytes);
      buffer.add(bytes);
      if (buffer.length > MAX_BYTES) {
        over = true;
        buffer.take();
        return [errorPart(502, `The upstream's answer has a record larger than ${MAX_BYTES} bytes`)];
      }
      return shape === 'stream' ? read(buffer.read()) : [];
    },
    end() {
      if (over) return [];
      const all = shape === 'whole' ? wholeParts(requestCopy, parts, buffer.take()) : read(buffer.end());
      if (!over) all.push(...parts.end());
      const last = asFarAsEnd(all);
      return over ? last : [...last, errorPart(502, 'The upstream ended its stream without its final event')];
    },
  };
}

function wholeParts(
  { upstream: { stream } }: KeptRequest,
  parts: PartReader,
  bytes: Uint8Array,
): StreamPart[] {
  const text = utf8Text(bytes);
  const answer = parseObject(text);
  // Some stream a list of chunks although they were asked for events.
  const frames = answer === null ? [{ event: '', data: text }] : stream.framesOf(answer);
  return frames.flatMap((frame) => parts.push(frame));
}

function errorPart(status: number, message: string): StreamPart {
  return { type: 'error', error: { status, message } };
}

/** What an answer is, by its first character: upstreams mislabel streams and JSON alike. */
function shapeOf(bytes: Uint8Array): 'unknown' | 'stream' | 'whole' {
  const first = bytes.find((byte) => ![0x20, LF, CR, 0x09, 0xef, 0xbb, 0xbf].includes(byte));
  if (first === undefined) return 'unknown';
  return '{[<'.includes(String.fromCharCode(first)) ? 'whole' : 'stream';
}

/**
 * Writes the answer to a translated request as a stream of the client's format.
 * @throws TranslationError for a `request` that `translateRequest` did not return
 */
export function createAnswerWriter(request: AnswerContext, options: AnswerOptions = {}): AnswerWriter {
  const requestCopy = keptRequest(request);
  const { id = '1' } = options;
  const writer = framesFor(requestCopy, options, true);
  return {
    usage: () => writer.usage(),
    push(part) {
      if (part.type !== 'error') return requestCopy.client.stream.encode(writer.push(part));
      const { message, status } = part.error;
      return requestCopy.client.stream.encodeErrorFrame(
        new GatewayError('upstream_error', message, { status }),
        id,
      );
    },
  };
}

/**
 * Translates the stream of an upstream into a stream of the client's format: `response.body.pipeThrough(translateStream(…))`.
 * Pieces may be cut anywhere. Backpressure is that of the streams; what is held is one unfinished record, 16 MiB at most.
 * @throws TranslationError for a `request` that `translateRequest` did not return
 */
export function translateStream({
  failures = 'event',
  onUsage,
  request,
  ...options
}: StreamOptions): TransformStream<Uint8Array, Uint8Array> {
  const reader = createAnswerReader(request);
  const writer = createAnswerWriter(request, options);
  const write = (parts: readonly StreamPart[], controller: TransformStreamDefaultController<Uint8Array>) => {
    let text = '';
    let ended = false;
    for (const part of parts) {
      if (part.type === 'error' && failures === 'throw') {
        if (text !== '') controller.enqueue(utf8Bytes(text));
        throw new TranslationError('upstream_error', part.error.message, part.error);
      }
      text += writer.push(part);
      ended ||= part.type === 'message-end' || part.type === 'error';
    }
    if (text !== '') controller.enqueue(utf8Bytes(text));
    if (ended) onUsage?.(writer.usage());
  };
  return new TransformStream({
    transform: (bytes, controller) => write(reader.push(bytes), controller),
    flush: (controller) => write(reader.end(), controller),
  });
}
