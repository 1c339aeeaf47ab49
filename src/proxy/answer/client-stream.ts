import type { StreamCodec } from '../../codecs/codec.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import { resetConnection } from '../../http/server/reset.ts';
import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import { type Frame, splitFrames } from '../../lib/streams/sse.ts';

/**
 * How far the answer of a streamed request is. `opened`: the status line and keep-alives went out, and nothing of any
 * upstream's answer. `committed`: so did content.
 */
export type StreamState = 'unopened' | 'opened' | 'committed';

export interface ClientStreamInput {
  response: ResponseSink;
  /** Null for a format without streams. */
  codec: Pick<StreamCodec, 'contentType' | 'keepAlive'> | null;
  /** Whether a stream is one JSON array instead of events (Gemini without `alt=sse`). */
  array: boolean;
  /** Told when the client takes more again. */
  onDrain(): void;
}

/**
 * The client's end of a streamed answer: one for each call, whichever targets are asked. What is written are frames of
 * the client's format, cut anywhere; they leave as they are, or as the elements of one JSON array.
 */
export class ClientStream {
  readonly contentType: string;
  readonly #response: ResponseSink;
  readonly #array: JsonArray | null;
  /** Null where there are none. */
  readonly #keepAlive: StreamCodec['keepAlive'];
  readonly #onDrain: () => void;
  #state: StreamState = 'unopened';
  #wrote = false;
  /** Frames of this turn of the event loop, which leave together. */
  #pendingText = '';

  constructor({ array, codec, onDrain, response }: ClientStreamInput) {
    this.#response = response;
    this.#array = array ? new JsonArray() : null;
    this.#onDrain = onDrain;
    // A message on a WebSocket has no head of its own, and its connection has pings.
    this.#keepAlive = response.req === undefined ? null : (codec?.keepAlive ?? null);
    this.contentType = array ? 'application/json' : (codec?.contentType ?? 'text/event-stream');
  }

  get state(): StreamState {
    return this.#state;
  }

  /** True while the client takes no more. */
  get full(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** Whether the format has keep-alives, and the client takes one now. */
  get takesKeepAlive(): boolean {
    return this.#keepAlive !== null && !this.full;
  }

  /** Whether anything was written since this was last asked. */
  wrote(): boolean {
    const wrote = this.#wrote;
    this.#wrote = false;
    return wrote;
  }

  /** Sends a keep-alive. `headers`, flat, open the stream if need be. */
  keepAlive(headers: () => string[]): void {
    if (this.#keepAlive === null) return;
    if (this.#state === 'unopened') {
      this.#state = 'opened';
      this.#open(headers());
    }
    this.write(Buffer.from(this.#keepAlive));
  }

  /** Sends the first content. `headers`, flat, go before it unless a keep-alive has opened the stream. False when the client takes no more for now. */
  commit(headers: () => string[], first: Buffer | string): boolean {
    const opens = this.#state === 'unopened';
    this.#state = 'committed';
    if (opens) this.#open(headers());
    if (first.length > 0) return this.write(first);
    if (opens) this.#response.flushHeaders();
    return !this.full;
  }

  write(bytes: Buffer | string): boolean {
    this.#send();
    this.#wrote = true;
    return this.#response.write(this.#array === null ? bytes : this.#array.elements(bytes));
  }

  /**
   * Writes at the end of this turn of the event loop, with all that comes until then: an upstream in haste sends many
   * frames at once, and a write costs more than a frame. `full` is true when the client takes no more.
   */
  gather(text: string): void {
    if (this.#pendingText === '') process.nextTick(() => this.#send());
    this.#pendingText += text;
  }

  #send(): void {
    const text = this.#pendingText;
    if (text === '') return;
    this.#pendingText = '';
    if (!this.#response.destroyed) this.write(text);
  }

  #open(headers: string[]): void {
    const bare = this.contentType.split(';', 1)[0] ?? this.contentType;
    setHeader(headers, 'content-type', this.contentType, (value) => value.startsWith(bare));
    setHeader(headers, 'cache-control', 'no-cache', () => true);
    headers.push('x-accel-buffering', 'no');
    this.#response.writeHead(200, headers);
    this.#response.on('drain', this.#onDrain);
  }

  end(last: Buffer | string = ''): void {
    this.#send();
    this.#response.end(this.#array === null ? last : this.#array.elements(last) + this.#array.end());
  }

  /**
   * Resets the connection after all that was written, and `last`, has left: the client sees that the answer is
   * incomplete.
   */
  reset(last: Buffer | null = null): void {
    this.#send();
    const bytes = last === null || this.#array === null ? last : this.#array.elements(last);
    resetConnection(this.#response, bytes ?? '');
  }
}

/** Sets `name` in flat headers, keeping a value that `accepts` takes. */
function setHeader(
  headers: string[],
  name: string,
  value: string,
  accepts: (value: string) => boolean,
): void {
  const at = headers.indexOf(name);
  if (at === -1 || at % 2 === 1) headers.push(name, value);
  else if (!accepts(headers[at + 1] ?? '')) headers[at + 1] = value;
}

/** The data of frames as elements of one array, each in one piece. */
class JsonArray {
  readonly #bytes = new FrameBuffer<Buffer>(splitFrames);
  #started = false;

  elements(bytes: Buffer | string): string {
    return this.#written(this.#bytes.push(Buffer.from(bytes)));
  }

  #written(frames: readonly Frame[]): string {
    let text = '';
    for (const { data } of frames) {
      text += `${this.#started ? ',\r\n' : '['}${data}`;
      this.#started = true;
    }
    return text;
  }

  end(): string {
    const last = this.#written(this.#bytes.end());
    return `${last}${this.#started ? ']' : '[]'}`;
  }
}
