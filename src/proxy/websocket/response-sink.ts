import type { OutgoingHttpHeaders } from 'node:http';
import type { StreamCodec } from '../../codecs/codec.ts';
import { isObject, type JsonObject, listOf, parseObject, textOf } from '../../codecs/json/values.ts';
import { stream } from '../../codecs/openai-responses/answer/stream.ts';
import { readVendorError } from '../../codecs/openai-shared/error.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import type { TextSocket } from '../../http/server/websocket.ts';
import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import type { Frame } from '../../lib/streams/sse.ts';

/** A whole answer where a stream was asked for is only taken up to this size. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;
/** Said of an HTTP body, and of nothing in an error message. */
const bodyHeaders = /^(?:content-(?:type|length|encoding)|cache-control|connection|x-accel-buffering)$/;

export interface WebSocketResponseSinkInput {
  socket: Pick<TextSocket, 'full' | 'send'>;
  /** Written into every message as `stream_id`; null for none. */
  streamId: string | null;
  /** Called with the response object of a good answer; null where it is not needed. */
  onResponse: ((response: JsonObject) => void) | null;
}

/**
 * Takes one answer of the responses format as HTTP would have it, and sends it as messages of a WebSocket: the data of
 * each event of a stream, or an error with its status. Whatever is written, the peer hears exactly once how it ended.
 */
export class WebSocketResponseSink implements ResponseSink {
  readonly #socket: WebSocketResponseSinkInput['socket'];
  readonly #streamId: string | null;
  readonly #onResponse: WebSocketResponseSinkInput['onResponse'];
  readonly #listeners: { close: (() => void)[]; drain: (() => void)[] } = { close: [], drain: [] };
  readonly #codec: StreamCodec = stream;
  #status = 0;
  #headers: OutgoingHttpHeaders = {};
  /** Bytes of an unfinished frame, or of a body. */
  readonly #bytes = new FrameBuffer<Buffer>((bytes) => this.#codec.split(bytes));
  /** Finished items as they were sent, for upstreams that do not repeat them in the last event. */
  #items: string[] = [];
  /** An event was sent. */
  #hasSentEvent = false;
  /** The end of the answer was sent to the client. */
  #endSent = false;
  headersSent = false;
  writableEnded = false;
  destroyed = false;

  constructor({ onResponse, streamId, socket }: WebSocketResponseSinkInput) {
    this.#socket = socket;
    this.#streamId = streamId;
    this.#onResponse = onResponse;
  }

  get writableNeedDrain(): boolean {
    return this.#socket.full;
  }

  /** An answer that breaks off leaves the connection as it is: the next one may follow. */
  readonly socket = { bytesWritten: 0, resetAndDestroy: (): void => this.#finish() };

  writeHead(status: number, headers: OutgoingHttpHeaders | string[]): void {
    this.#status = status;
    this.#headers = Array.isArray(headers) ? fromFlat(headers) : headers;
    this.headersSent = true;
  }

  flushHeaders(): void {}

  write(bytes: Buffer | string, onSent?: () => void): boolean {
    this.#take(Buffer.from(bytes));
    if (onSent !== undefined) setImmediate(onSent);
    return !this.#socket.full;
  }

  end(bytes: Buffer | string = '', encoding: BufferEncoding = 'utf8'): void {
    this.#take(typeof bytes === 'string' ? Buffer.from(bytes, encoding) : bytes);
    this.#finish();
  }

  on(event: 'close' | 'drain', listener: () => void): void {
    this.#listeners[event].push(listener);
  }

  /** The connection takes more again. */
  drained(): void {
    if (!this.writableEnded) for (const listener of this.#listeners.drain) listener();
  }

  /** The connection is gone. */
  disconnect(): void {
    if (this.destroyed) return;
    this.writableEnded = true;
    this.#close();
  }

  #take(bytes: Buffer): void {
    if (this.writableEnded || bytes.length === 0) return;
    this.#bytes.add(bytes);
    if (this.#streams()) for (const frame of this.#bytes.read()) this.#sendFrame(frame);
    else if (this.#bytes.length > MAX_WHOLE_BYTES) this.#finish();
  }

  #streams(): boolean {
    return this.#status < 300 && String(this.#headers['content-type']).startsWith('text/event-stream');
  }

  #sendFrame(frame: Frame): void {
    const data = frame.data.trim();
    if (this.#endSent || data === '' || data === '[DONE]') return;
    const meaning = this.#codec.classify(frame);
    if (meaning === 'error' && !isResponseFailed(frame)) {
      const { status } = this.#codec.readError(frame);
      const event = parseObject(data) ?? {};
      this.#sendError(status, isObject(event['error']) ? event['error'] : reported(event, data));
      return;
    }
    if (this.#onResponse !== null && ITEM_DONE.test(data)) this.#items.push(data);
    this.#endSent = meaning === 'error' || meaning === 'end';
    this.#send(this.#withHeaders(data));
    if (meaning === 'end') this.#remember(data);
  }

  /**
   * The first event of an answer with the headers that its client should get: a message has none of its own, and
   * clients read headers there where the vendor's errors have them.
   */
  #withHeaders(data: string): string {
    if (this.#hasSentEvent) return data;
    this.#hasSentEvent = true;
    const sentHeaders = Object.entries(this.#headers).filter(([name]) => firstEventHeaders.has(name));
    return sentHeaders.length === 0
      ? data
      : withFirst(data, `"headers":${JSON.stringify(Object.fromEntries(sentHeaders))}`);
  }

  #remember(data: string): void {
    const response = this.#onResponse === null ? null : parseObject(data)?.['response'];
    if (!isObject(response)) return;
    const repeated = listOf(response['output']);
    const output = repeated.length > 0 ? repeated : this.#items.map((item) => parseObject(item)?.['item']);
    this.#items = [];
    this.#onResponse?.({ ...response, output });
  }

  /** Says what was not said yet, and ends. */
  #finish(): void {
    if (this.writableEnded) return;
    this.writableEnded = true;
    try {
      if (this.#status >= 300) this.#sendFailure(this.#bytes.take());
      else if (this.#streams()) this.#sendRest();
      else this.#sendWhole(this.#bytes.take());
    } catch (error) {
      // JSON can be read to any depth and written only as deep as the stack goes.
      if (!(error instanceof RangeError)) throw error;
    }
    if (!this.#endSent) {
      const message = 'The answer broke off before its final event';
      this.#sendError(502, { message, type: 'server_error', param: null, code: 'upstream_cut' });
    }
    setImmediate(() => this.#close());
  }

  /** A last frame that no blank line followed. One that was cut is not sent. */
  #sendRest(): void {
    for (const frame of this.#bytes.end()) if (parseObject(frame.data) !== null) this.#sendFrame(frame);
  }

  #sendWhole(body: Buffer): void {
    const answer = body.length > MAX_WHOLE_BYTES ? null : parseObject(body.toString('utf8'));
    if (answer === null) return;
    for (const frame of this.#codec.framesOf(answer)) this.#sendFrame(frame);
  }

  #sendFailure(body: Buffer): void {
    const text = body.toString('utf8');
    const answer = parseObject(text) ?? {};
    const { error } = answer;
    this.#sendError(this.#status, isObject(error) ? error : reported(answer, text));
  }

  #sendError(status: number, error: JsonObject): void {
    const sentHeaders = Object.entries(this.#headers).filter(([name]) => !bodyHeaders.test(name));
    const json = JSON.stringify({ type: 'error', status, error, headers: Object.fromEntries(sentHeaders) });
    this.#endSent = true;
    this.#send(json);
  }

  #send(json: string): void {
    this.#socket.send(this.#streamId === null ? json : withFirst(json, `"stream_id":"${this.#streamId}"`));
  }

  #close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    for (const listener of this.#listeners.close) listener();
  }
}

/** What a translated request lost or got on its way. */
const firstEventHeaders: ReadonlySet<string> = new Set([
  'x-gateway-dropped',
  'x-gateway-lowered',
  'x-gateway-added',
]);

/** A JSON object with one more field before its first. */
function withFirst(json: string, member: string): string {
  const open = json.indexOf('{') + 1;
  return `${json.slice(0, open)}${member},${json.slice(open)}`;
}

/** The type as the vendor writes it: first in the data. */
const ITEM_DONE = /^\{\s*"type"\s*:\s*"response\.output_item\.done"/;

/** Clients read `response.failed` as it is; of an `error` they need the status, which a stream does not contain. */
function isResponseFailed({ data, event }: Frame): boolean {
  return event === 'response.failed' || textOf(parseObject(data)?.['type']) === 'response.failed';
}

/** An error object for a failure that was said in another shape. */
function reported(event: JsonObject, text: string): JsonObject {
  const { message } = readVendorError(Object.keys(event).length === 0 ? text : event);
  return { message, type: 'server_error', param: event['param'] ?? null, code: event['code'] ?? null };
}

function fromFlat(flat: readonly string[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (let index = 0; index + 1 < flat.length; index += 2) headers[flat[index] ?? ''] = flat[index + 1];
  return headers;
}
