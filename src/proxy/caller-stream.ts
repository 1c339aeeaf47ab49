import type { Outlet } from '../http/outlet.ts';
import { splitFrames } from '../lib/sse.ts';
import type { Call } from './call.ts';

/**
 * The caller's end of a streamed answer. What is written are frames of the caller's format, cut anywhere; they leave
 * as they are, or as the elements of one JSON array where the caller asked for that (Gemini without `alt=sse`).
 */
export class CallerStream {
  readonly contentType: string;
  readonly #response: Outlet;
  readonly #array: JsonArray | null;
  /** Frames of this turn of the event loop, which leave together. */
  #gathered = '';

  constructor({ codec, exchange, named }: Call) {
    this.#response = exchange.response;
    this.#array = named?.array === true ? new JsonArray() : null;
    this.contentType =
      this.#array === null ? (codec.stream?.contentType ?? 'text/event-stream') : 'application/json';
  }

  /** True while the caller takes no more. */
  get full(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** Sends the head, and `first` with it. False when the caller takes no more for now: `onDrain` tells when it does. */
  open(headers: string[], first: Buffer | string, onDrain: () => void): boolean {
    this.#response.writeHead(200, headers);
    this.#response.on('drain', onDrain);
    if (first.length > 0) return this.write(first);
    this.#response.flushHeaders();
    return true;
  }

  write(bytes: Buffer | string): boolean {
    this.#send();
    return this.#response.write(this.#array === null ? bytes : this.#array.elements(bytes));
  }

  /**
   * Writes at the end of this turn of the event loop, with all that comes until then: an upstream in haste sends many
   * frames at once, and a write costs more than a frame. `full` tells whether the caller takes more.
   */
  gather(text: string): void {
    if (this.#gathered === '') process.nextTick(() => this.#send());
    this.#gathered += text;
  }

  #send(): void {
    const text = this.#gathered;
    if (text === '') return;
    this.#gathered = '';
    if (!this.#response.destroyed) this.write(text);
  }

  end(last: Buffer | string = ''): void {
    this.#send();
    this.#response.end(this.#array === null ? last : this.#array.elements(last) + this.#array.end());
  }

  /** Closes the connection without a proper end, so that the caller knows that more was to come, after `last` has left. */
  breakOff(last?: Buffer): void {
    this.#send();
    const close = () => this.#response.socket?.destroySoon();
    if (last === undefined) close();
    else this.#response.write(this.#array === null ? last : this.#array.elements(last), close);
  }
}

/** The data of frames as elements of one array, each in one piece. */
class JsonArray {
  #rest: Buffer = Buffer.alloc(0);
  #begun = false;

  elements(bytes: Buffer | string): string {
    const { frames, rest } = splitFrames(Buffer.concat([this.#rest, Buffer.from(bytes)]));
    this.#rest = rest;
    let text = '';
    for (const { data } of frames) {
      text += `${this.#begun ? ',\r\n' : '['}${data}`;
      this.#begun = true;
    }
    return text;
  }

  end(): string {
    const last = this.#rest.length === 0 ? '' : this.elements('\n\n');
    return `${last}${this.#begun ? ']' : '[]'}`;
  }
}
