import type { IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import { parseJson } from '../../codecs/json/lossless.ts';
import { GatewayError } from '../../lib/error.ts';
import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import type { FrameSplit } from '../../lib/streams/sse.ts';

/** AWS's binary framing of answers that come in pieces (smithy.io, "Amazon Event Stream"). */
const EVENT_STREAM = 'application/vnd.amazon.eventstream';

/** Lengths of the two sizes with their checksum, and of the checksum at the end. */
const PRELUDE_BYTES = 12;
const TRAILER_BYTES = 4;
/** What AWS allows: 24 MiB of payload, 128 KiB of headers. */
const MAX_FRAME_BYTES = 25 * 1024 * 1024;

/** One frame, its text headers only. */
interface EventFrame {
  headers: Readonly<Record<string, string>>;
  payload: Buffer;
}

/** The headers of an answer whose frames were turned into server-sent events; null for an answer without frames. */
export function unframedHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders | null {
  if (!headers['content-type']?.startsWith(EVENT_STREAM)) return null;
  return { ...headers, 'content-type': 'text/event-stream' };
}

/**
 * Turns frames whose payload is `{"bytes": base64}` into server-sent events, named as their `type` says, and an
 * exception into the error event of the messages format. A frame that is not sound ends it with `upstream_protocol`.
 */
export function createUnframer(): Transform {
  /** As many bytes are needed before anything can be read: a large frame is put together once. */
  let bytesNeeded = PRELUDE_BYTES;
  let fault: Error | null = null;
  const split = (bytes: Buffer): ReadFrames => {
    const read = readFrames(bytes);
    ({ fault, bytesNeeded } = read);
    return read;
  };
  const buffer = new FrameBuffer(split, (_, length) => length >= bytesNeeded);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      for (const event of buffer.push(chunk)) this.push(event);
      // What came before a broken frame is read before the stream is given up.
      if (fault !== null) setImmediate(done, fault);
      else done();
    },
    flush(done) {
      const cut = new GatewayError('upstream_cut', 'The upstream ended its answer inside a frame');
      done(buffer.length === 0 ? null : cut);
    },
  });
}

interface ReadFrames extends FrameSplit<Buffer, Buffer> {
  /** As many bytes are needed for the next. */
  bytesNeeded: number;
  /** Why nothing more can be read. */
  fault: Error | null;
}

/** The events of the whole frames in `bytes`, and what is left of them. */
function readFrames(bytes: Buffer): ReadFrames {
  const frames: Buffer[] = [];
  let rest = bytes;
  try {
    for (;;) {
      const size = frameSize(rest);
      if (size === null || rest.length < size)
        return { frames, rest, bytesNeeded: size ?? PRELUDE_BYTES, fault: null };
      frames.push(eventOf(readFrame(rest.subarray(0, size))));
      rest = rest.subarray(size);
    }
  } catch (fault) {
    return { frames, rest, bytesNeeded: PRELUDE_BYTES, fault: fault as Error };
  }
}

/** The size of the frame at the beginning of `bytes`; null while its prelude is not all there. @throws GatewayError */
function frameSize(bytes: Buffer): number | null {
  if (bytes.length < PRELUDE_BYTES) return null;
  const size = bytes.readUInt32BE(0);
  const headers = bytes.readUInt32BE(4);
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8))
    throw broken('the checksum of its sizes is wrong');
  if (size > MAX_FRAME_BYTES || PRELUDE_BYTES + headers + TRAILER_BYTES > size)
    throw broken('its sizes make no sense');
  return size;
}

/** Reads one whole frame. @throws GatewayError `upstream_protocol` */
function readFrame(bytes: Buffer): EventFrame {
  const end = bytes.length - TRAILER_BYTES;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw broken('its checksum is wrong');
  const payloadAt = PRELUDE_BYTES + bytes.readUInt32BE(4);
  return {
    headers: readHeaders(bytes.subarray(PRELUDE_BYTES, payloadAt)),
    payload: bytes.subarray(payloadAt, end),
  };
}

/** Bytes of the values that have a fixed length, by their type. */
const fixedBytes: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
const STRING = 7;

function readHeaders(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw broken('a header is longer than the headers are');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const name = take(take(1).readUInt8()).toString('utf8');
    const type = take(1).readUInt8();
    if (type >= fixedBytes.length) throw broken(`a header is of the unknown type ${type}`);
    const value = take(fixedBytes[type] ?? take(2).readUInt16BE());
    if (type === STRING) headers[name] = value.toString('utf8');
  }
  return headers;
}

function eventOf({ headers, payload }: EventFrame): Buffer {
  switch (headers[':message-type']) {
    case 'event':
      return chunkEvent(payload);
    case 'exception':
      return errorEvent(headers[':exception-type'] ?? '', messageIn(payload));
    case 'error':
      return errorEvent(headers[':error-code'] ?? '', headers[':error-message'] ?? '');
    default:
      throw broken('it is neither an event nor an error');
  }
}

function chunkEvent(payload: Buffer): Buffer {
  const { bytes } = objectIn(payload);
  // An event that is no piece of the answer, of a kind that is not known yet.
  if (typeof bytes !== 'string') return Buffer.from(': skipped\n\n');
  const text = Buffer.from(bytes, 'base64');
  const event = objectIn(text);
  const name = typeof event['type'] === 'string' ? `event: ${event['type']}\n` : '';
  const data =
    text.includes(0x0a) || text.includes(0x0d)
      ? JSON.stringify(parseJson(text.toString('utf8')))
      : text.toString('utf8');
  return Buffer.from(`${name}data: ${data}\n\n`);
}

/** What AWS calls its failures, in the words of the messages format. */
const errorTypes: Readonly<Record<string, string>> = {
  throttlingexception: 'rate_limit_error',
  servicequotaexceededexception: 'rate_limit_error',
  serviceunavailableexception: 'overloaded_error',
  modelnotreadyexception: 'overloaded_error',
  modeltimeoutexception: 'timeout_error',
  validationexception: 'invalid_request_error',
  accessdeniedexception: 'permission_error',
  resourcenotfoundexception: 'not_found_error',
};

function errorEvent(name: string, message: string): Buffer {
  const type = errorTypes[name.toLowerCase()] ?? 'api_error';
  const error = { type: 'error', error: { type, message: message === '' ? name : message } };
  return Buffer.from(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
}

function messageIn(payload: Buffer): string {
  const { message } = objectIn(payload);
  return typeof message === 'string' ? message : '';
}

/** @throws GatewayError `upstream_protocol` */
function objectIn(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // As below.
  }
  throw broken('what it holds is not JSON');
}

function broken(why: string): GatewayError {
  return new GatewayError('upstream_protocol', `The upstream sent a broken frame: ${why}`);
}
