import type { IncomingHttpHeaders } from 'node:http';
import { validLines } from '../field-lines.ts';
import { Chunks } from './chunks.ts';
import { closedEarly, ExchangeError } from './error.ts';
import { Payload } from './payload.ts';
import { parseFields, parseResponseHead, type ResponseHead } from './response-head.ts';

/** The calls of a reader for one response. */
export interface ResponseEvents {
  /** Of every head, interim ones included (RFC 9110, 15.2). */
  onHead(head: ResponseHead): void;
  /** The buffer is the receiver's own. */
  onBody(bytes: Buffer): void;
  onEnd(trailers: IncomingHttpHeaders): void;
}

type State =
  | { kind: 'head' }
  | { kind: 'length'; left: number }
  | { kind: 'chunks'; chunks: Chunks }
  | { kind: 'trailer' }
  | { kind: 'until-close' }
  | { kind: 'ended' };

const HEAD_END = Buffer.from('\r\n\r\n');
const VERSION = 'HTTP/1.';
/** More interim responses than this to one request are no courtesy. */
const MAX_INTERIM = 64;
const inHead: State = { kind: 'head' };
const inTrailer: State = { kind: 'trailer' };
const untilClose: State = { kind: 'until-close' };
const ended: State = { kind: 'ended' };
const noTrailers: IncomingHttpHeaders = {};

/** Reads one HTTP/1.1 response from the bytes of a connection, as strictly as llhttp does. */
export class ResponseReader {
  readonly #events: ResponseEvents;
  readonly #maxHeadBytes: number;
  #state: State = inHead;
  /** A head or a trailer that has not come as a whole. */
  #buffer: Buffer | null = null;
  #bufferedBytes = 0;
  #headBytes = 0;
  #interim = 0;

  constructor(events: ResponseEvents, maxHeadBytes: number) {
    this.#events = events;
    this.#maxHeadBytes = maxHeadBytes;
  }

  /**
   * @returns how many bytes belong to the response: fewer than there are where others follow it
   * @throws ExchangeError `HPE_…`
   */
  read(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#state.kind !== 'ended') at = this.#step(bytes, at);
    return at;
  }

  /** The server sends no more. @throws ExchangeError `ECONNRESET` where the response is not complete */
  end(): void {
    if (this.#state.kind === 'ended') return;
    if (this.#state.kind !== 'until-close') throw closedEarly();
    this.#finish(noTrailers);
  }

  #step(bytes: Buffer, at: number): number {
    const state = this.#state;
    switch (state.kind) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'length': {
        const end = Math.min(bytes.length, at + state.left);
        state.left -= end - at;
        this.#events.onBody(Buffer.from(bytes.subarray(at, end)));
        if (state.left === 0) this.#finish(noTrailers);
        return end;
      }
      case 'chunks': {
        const payload = new Payload(bytes.length - at);
        let end: number;
        try {
          end = state.chunks.read(bytes, at, payload);
        } finally {
          // What came before a fault was sent in good order.
          const body = payload.take();
          if (body !== null) this.#events.onBody(body);
        }
        if (state.chunks.ended) this.#state = inTrailer;
        return end;
      }
      case 'trailer':
        return this.#readTrailer(bytes, at);
      case 'until-close':
        this.#events.onBody(Buffer.from(bytes.subarray(at)));
        return bytes.length;
      case 'ended':
        return at;
    }
  }

  #finish(trailers: IncomingHttpHeaders): void {
    this.#state = ended;
    this.#events.onEnd(trailers);
  }

  #readHead(bytes: Buffer, from: number): number {
    let start = from;
    // Blank lines before a status line are skipped (RFC 9112, 2.2).
    if (this.#buffer === null) while (bytes[start] === 13 || bytes[start] === 10) start += 1;
    if (start === bytes.length) return start;
    const headText = this.#take(bytes, start);
    if (headText === null) {
      const begin = (this.#buffer ?? bytes).toString(
        'latin1',
        0,
        Math.min(this.#bufferedBytes, VERSION.length),
      );
      if (!VERSION.startsWith(begin))
        throw new ExchangeError('HPE_INVALID_CONSTANT', 'the answer does not begin as HTTP/1.1 does');
      return bytes.length;
    }
    this.#begin(parseResponseHead(headText.text));
    return headText.next;
  }

  #begin(head: ResponseHead): void {
    const { framing, status } = head;
    if (status === 101) throw new ExchangeError('HPE_INVALID_UPGRADE', 'an upgrade that was not requested');
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > MAX_INTERIM)
        throw new ExchangeError('HPE_INVALID_STATUS', 'too many interim responses');
      if (!head.persistent)
        throw new ExchangeError('HPE_CLOSED_CONNECTION', 'an interim response that closes the connection');
      this.#events.onHead(head);
      return;
    }
    if (framing.kind === 'chunked') this.#state = { kind: 'chunks', chunks: new Chunks() };
    else if (framing.kind === 'until-close') this.#state = untilClose;
    else if (framing.kind === 'length') this.#state = { kind: 'length', left: framing.bytes };
    this.#events.onHead(head);
    if (framing.kind === 'none' || (framing.kind === 'length' && framing.bytes === 0))
      this.#finish(noTrailers);
  }

  #readTrailer(bytes: Buffer, at: number): number {
    // Without fields the trailer is one blank line, where the end of the head has two line ends.
    if (this.#buffer === null && bytes[at] === 13 && bytes[at + 1] === 10) {
      this.#finish(noTrailers);
      return at + 2;
    }
    if (this.#buffer === null && bytes[at] === 13 && at + 1 === bytes.length) {
      this.#hold(bytes, at);
      return bytes.length;
    }
    if (this.#buffer !== null && this.#bufferedBytes === 1 && this.#buffer[0] === 13) {
      if (bytes[at] !== 10) throw new ExchangeError('HPE_STRICT', 'no line feed behind the last chunk');
      this.#buffer = null;
      this.#bufferedBytes = 0;
      this.#finish(noTrailers);
      return at + 1;
    }
    const headText = this.#take(bytes, at);
    if (headText === null) return bytes.length;
    if (!validLines.test(headText.text))
      throw new ExchangeError('HPE_INVALID_HEADER_TOKEN', 'a control character in the trailer');
    this.#finish(parseFields(headText.text, 0));
    return headText.next;
  }

  /** Lines up to a blank one, with what was held; null, and held, while that has not come. */
  #take(bytes: Buffer, start: number): { text: string; next: number } | null {
    if (this.#buffer === null) {
      const end = bytes.indexOf(HEAD_END, start);
      if (end === -1) {
        this.#count(bytes.length - start);
        this.#hold(bytes, start);
        this.#refuseBareLineFeeds(0, this.#bufferedBytes);
        return null;
      }
      this.#count(end - start);
      return { text: bytes.toString('latin1', start, end), next: end + HEAD_END.length };
    }
    const before = this.#bufferedBytes;
    this.#hold(bytes, start);
    const end = this.#buffer.subarray(0, this.#bufferedBytes).indexOf(HEAD_END, Math.max(0, before - 3));
    // After the end there may be any bytes.
    this.#refuseBareLineFeeds(before, end === -1 ? this.#bufferedBytes : end);
    if (end === -1) {
      this.#count(bytes.length - start);
      return null;
    }
    this.#count(Math.max(0, end - before));
    const text = this.#buffer.toString('latin1', 0, end);
    this.#buffer = null;
    this.#bufferedBytes = 0;
    return { text, next: start + end + HEAD_END.length - before };
  }

  /** @throws ExchangeError when the heads of this response, its interim ones and its trailer together are too long */
  #count(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > this.#maxHeadBytes)
      throw new ExchangeError('HPE_HEADER_OVERFLOW', 'the headers of the answer are too large');
  }

  #hold(bytes: Buffer, start: number): void {
    const length = this.#bufferedBytes + bytes.length - start;
    const buffered = this.#buffer;
    if (buffered === null || buffered.length < length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(512, 2 * length));
      if (buffered !== null) buffered.copy(this.#buffer, 0, 0, this.#bufferedBytes);
    }
    if (this.#buffer !== null) bytes.copy(this.#buffer, this.#bufferedBytes, start);
    this.#bufferedBytes = length;
  }

  /** A head whose lines end otherwise would never be complete. */
  #refuseBareLineFeeds(from: number, to: number): void {
    const buffered = this.#buffer;
    if (buffered === null) return;
    for (let at = buffered.indexOf(10, from); at !== -1 && at < to; at = buffered.indexOf(10, at + 1)) {
      if (buffered[at - 1] !== 13)
        throw new ExchangeError('HPE_CR_EXPECTED', 'a line feed without a carriage return');
    }
  }
}
