import { EventEmitter } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { fieldName, LINE_END } from '../../field-lines.ts';
import type { ServerSink } from '../../response-sink.ts';
import { STATUS_CODES } from '../node-http.ts';
import { chunkOf, noSniff, ONE_PIECE_BYTES } from '../response.ts';
import type { SimpleRequest } from './request.ts';

/** How the end of an answer is told (RFC 9112, 6.3). */
type Framing = 'none' | 'length' | 'chunked';

const LAST_CHUNK = '0\r\n\r\n';
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;
const [[NO_SNIFF, NO_SNIFF_VALUE]] = Object.entries(noSniff) as [[string, string]];

export interface SimpleResponseOptions {
  /** For how long a connection is kept for another request, in whole seconds, which its client is told. */
  keepAliveSeconds: number;
  /** The time, as an HTTP date. */
  date(): string;
  /** Called once all of the answer was given to the system. */
  onSent(response: SimpleResponse): void;
}

/**
 * The answer to a request with a simple head, in HTTP/1.1, written straight to its connection, which has no other answer at the
 * same time. It does for a handler what Node's `ServerResponse` does, at a fraction of the cost.
 */
export class SimpleResponse extends EventEmitter implements ServerSink {
  readonly req: SimpleRequest;
  /** Null once the answer was sent, or its client is gone. */
  socket: Socket | null;
  statusCode = 200;
  shouldKeepAlive = true;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  writableNeedDrain = false;
  destroyed = false;
  readonly #options: SimpleResponseOptions;
  /** What was not sent yet of a head that is written. */
  #head = '';
  #framing: Framing = 'none';

  constructor(request: SimpleRequest, socket: Socket, options: SimpleResponseOptions) {
    super();
    this.req = request;
    this.socket = socket;
    this.#options = options;
  }

  /** @throws TypeError for a name or a value that HTTP does not have, and where a head was written before */
  writeHead(status: number, headers: OutgoingHttpHeaders | readonly string[]): this {
    if (this.headersSent) throw new TypeError('the head of the answer was written before');
    this.statusCode = status;
    this.headersSent = true;
    this.#framing = status === 204 || status === 304 ? 'none' : 'chunked';
    const seen = { date: false, noSniff: false };
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}${LINE_END}`;
    const add = (written: string, value: string) => {
      const name = fieldName(written);
      if (name === null || invalidValue.test(value))
        throw new TypeError(`the header ${written.slice(0, 40)} is none of HTTP`);
      if (name === 'content-length') this.#framing = this.#framing === 'none' ? 'none' : 'length';
      else if (name === 'date') seen.date = true;
      else if (name === NO_SNIFF) seen.noSniff = true;
      else if (isOwn(name)) {
        if (name === 'connection' && value.toLowerCase() === 'close') this.shouldKeepAlive = false;
        return;
      }
      head += `${written}: ${value}${LINE_END}`;
    };
    forEachField(headers, add);
    if (!seen.noSniff) head += `${NO_SNIFF}: ${NO_SNIFF_VALUE}${LINE_END}`;
    if (!seen.date) head += `Date: ${this.#options.date()}${LINE_END}`;
    if (this.#framing === 'chunked') head += `Transfer-Encoding: chunked${LINE_END}`;
    head += this.shouldKeepAlive
      ? `Connection: keep-alive${LINE_END}Keep-Alive: timeout=${this.#options.keepAliveSeconds}${LINE_END}`
      : `Connection: close${LINE_END}`;
    this.#head = `${head}${LINE_END}`;
    return this;
  }

  flushHeaders(): void {
    const { socket } = this;
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    if (socket === null || this.#head === '') return;
    this.#noteRoom(socket.write(this.#takeHead(), 'latin1'));
  }

  write(bytes: Buffer | string, onSent?: () => void): boolean {
    const { socket } = this;
    if (socket === null || this.writableEnded) {
      if (onSent !== undefined) process.nextTick(onSent);
      return false;
    }
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    if (bytes.length === 0 || this.#framing === 'none')
      return this.#noteRoom(socket.write(this.#takeHead(), 'latin1', onSent));
    return this.#noteRoom(
      this.#framing === 'chunked'
        ? this.#writeChunk(socket, bytes, onSent)
        : this.#writePiece(socket, bytes, onSent),
    );
  }

  end(bytes: Buffer | string = '', encoding: BufferEncoding = 'utf8'): this {
    const { socket } = this;
    if (socket === null || this.writableEnded) return this;
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    this.writableEnded = true;
    const content = typeof bytes === 'string' && encoding !== 'utf8' ? Buffer.from(bytes, encoding) : bytes;
    const sent = () => this.#sent();
    if (this.#framing === 'none' || (content.length === 0 && this.#framing === 'length'))
      socket.write(this.#takeHead(), 'latin1', sent);
    else if (this.#framing === 'length')
      if (typeof bytes === 'string' && encoding === 'latin1')
        socket.write(this.#takeHead() + bytes, 'latin1', sent);
      else this.#writePiece(socket, content, sent);
    else if (content.length === 0) socket.write(this.#takeHead() + LAST_CHUNK, 'latin1', sent);
    else {
      socket.cork();
      this.#writeChunk(socket, content);
      socket.write(LAST_CHUNK, 'latin1', sent);
      socket.uncork();
    }
    return this;
  }

  destroy(): void {
    this.socket?.destroy();
  }

  /** Told that its connection takes more again. */
  roomAgain(): void {
    if (!this.writableNeedDrain) return;
    this.writableNeedDrain = false;
    this.emit('drain');
  }

  /** Told that its connection is closed, and that nothing else will happen. */
  close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.socket = null;
    this.emit('close');
  }

  #sent(): void {
    if (this.destroyed) return;
    this.writableFinished = true;
    this.writableNeedDrain = false;
    this.close();
    this.#options.onSent(this);
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }

  /** As one buffer where it is small: to copy it costs less than a second one. */
  #writePiece(socket: Socket, bytes: Buffer | string, onSent?: () => void): boolean {
    const head = this.#takeHead();
    if (head === '') return socket.write(bytes, onSent);
    if (typeof bytes !== 'string' && bytes.length <= ONE_PIECE_BYTES)
      return socket.write(head + bytes.toString('latin1'), 'latin1', onSent);
    socket.cork();
    socket.write(head, 'latin1');
    const hasRoom = socket.write(bytes, onSent);
    socket.uncork();
    return hasRoom;
  }

  #writeChunk(socket: Socket, bytes: Buffer | string, onSent?: () => void): boolean {
    const head = this.#takeHead();
    const chunk = chunkOf(bytes);
    if (typeof chunk === 'string') return socket.write(head + chunk, 'latin1', onSent);
    socket.cork();
    if (head !== '') socket.write(head, 'latin1');
    const hasRoom =
      chunk === null ? writeLargeChunk(socket, bytes, onSent) : socket.write(chunk, onSent);
    socket.uncork();
    return hasRoom;
  }

  #noteRoom(hasRoom: boolean): boolean {
    if (!hasRoom) this.writableNeedDrain = true;
    return hasRoom;
  }
}

function writeLargeChunk(socket: Socket, bytes: Buffer | string, onSent?: () => void): boolean {
  socket.write(`${Buffer.byteLength(bytes).toString(16)}${LINE_END}`, 'latin1');
  socket.write(bytes);
  return socket.write(LINE_END, 'latin1', onSent);
}

/** What the connection decides itself. */
function isOwn(name: string): boolean {
  return name === 'connection' || name === 'keep-alive' || name === 'transfer-encoding';
}

function forEachField(
  headers: OutgoingHttpHeaders | readonly string[],
  add: (name: string, value: string) => void,
): void {
  if (isFlat(headers)) {
    for (let index = 0; index + 1 < headers.length; index += 2)
      add(headers[index] ?? '', String(headers[index + 1]));
    return;
  }
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (Array.isArray(value)) for (const one of value) add(name, one);
    else if (value !== undefined) add(name, String(value));
  }
}

function isFlat(headers: OutgoingHttpHeaders | readonly string[]): headers is readonly string[] {
  return Array.isArray(headers);
}
