import { EventEmitter } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { fieldName, isFieldValue, LINE_END } from '../../field-lines.ts';
import type { ServerSink } from '../../response-sink.ts';
import { STATUS_CODES } from '../node-http.ts';
import { chunkOf, noSniff, ONE_PIECE_BYTES } from '../response.ts';
import type { SimpleRequest } from './request.ts';

/** How the client finds the end of an answer (RFC 9112, 6.3). */
type Framing = 'none' | 'length' | 'chunked';

const LAST_CHUNK = '0\r\n\r\n';
const [[NO_SNIFF, NO_SNIFF_VALUE]] = Object.entries(noSniff) as [[string, string]];

export interface SimpleResponseOptions {
  /** For how long a connection is kept for another request, in whole seconds, for the header `Keep-Alive`. */
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
    const hasBody = status >= 200 && status !== 204 && status !== 304;
    const head: Head = {
      text: `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}${LINE_END}`,
      framing: hasBody ? 'chunked' : 'none',
      connection: null,
      hasDate: false,
      hasNoSniff: false,
    };
    addFields(head, headers);
    // Only now, for another head may follow one that is refused.
    this.statusCode = status;
    this.headersSent = true;
    this.#framing = head.framing;
    if (!head.hasNoSniff) head.text += `${NO_SNIFF}: ${NO_SNIFF_VALUE}${LINE_END}`;
    if (!head.hasDate) head.text += `Date: ${this.#options.date()}${LINE_END}`;
    if (head.connection !== null) this.shouldKeepAlive = head.connection === 'kept';
    else if (this.shouldKeepAlive)
      head.text += `Connection: keep-alive${LINE_END}Keep-Alive: timeout=${this.#options.keepAliveSeconds}${LINE_END}`;
    else head.text += `Connection: close${LINE_END}`;
    if (head.framing === 'chunked') head.text += `Transfer-Encoding: chunked${LINE_END}`;
    this.#head = `${head.text}${LINE_END}`;
    return this;
  }

  flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode, {});
    if (this.socket?.writable && this.#head !== '')
      this.#noteRoom(this.socket.write(this.#takeHead(), 'latin1'));
  }

  write(bytes: Buffer | string, onSent?: () => void): boolean {
    const { socket } = this;
    // A write after the end of a connection would destroy it, together with everything that is not sent yet.
    if (!socket?.writable || this.writableEnded) {
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
    if (this.writableEnded) return this;
    this.writableEnded = true;
    this.writableNeedDrain = false;
    if (!socket?.writable) return this;
    if (!this.headersSent)
      this.writeHead(this.statusCode, { 'content-length': Buffer.byteLength(bytes, encoding) });
    const sent = (error?: Error | null) => this.#sent(error);
    if (this.#framing === 'none' || (bytes.length === 0 && this.#framing === 'length'))
      socket.write(this.#takeHead(), 'latin1', sent);
    else if (bytes.length === 0) socket.write(this.#takeHead() + LAST_CHUNK, 'latin1', sent);
    else if (this.#framing === 'length' && typeof bytes === 'string' && encoding === 'latin1')
      socket.write(this.#takeHead() + bytes, 'latin1', sent);
    else {
      const content = typeof bytes === 'string' && encoding !== 'utf8' ? Buffer.from(bytes, encoding) : bytes;
      if (this.#framing === 'length') this.#writePiece(socket, content, sent);
      else {
        socket.cork();
        this.#writeChunk(socket, content);
        socket.write(LAST_CHUNK, 'latin1', sent);
        socket.uncork();
      }
    }
    return this;
  }

  destroy(): void {
    this.destroyed = true;
    this.socket?.destroy();
  }

  /** Called when its connection has room again. */
  roomAgain(): void {
    if (!this.writableNeedDrain) return;
    this.writableNeedDrain = false;
    this.emit('drain');
  }

  /** Called when its connection is closed, as the last event. */
  close(): void {
    if (this.socket === null) return;
    this.destroyed = true;
    this.socket = null;
    this.emit('close');
  }

  /** Called when the system has taken all of it, or has failed to: then the connection closes, too. */
  #sent(error: Error | null | undefined): void {
    if (this.destroyed || error) return;
    this.writableFinished = true;
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
    const hasRoom = chunk === null ? writeLargeChunk(socket, bytes, onSent) : socket.write(chunk, onSent);
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

/** A head as far as it is written. */
interface Head {
  text: string;
  framing: Framing;
  /** The field that concerns the connection; null if there is none. */
  connection: 'kept' | 'closed' | null;
  hasDate: boolean;
  hasNoSniff: boolean;
}

function addFields(head: Head, headers: OutgoingHttpHeaders | readonly string[]): void {
  if (isFlat(headers)) {
    for (let index = 0; index + 1 < headers.length; index += 2)
      addField(head, headers[index] ?? '', String(headers[index + 1]));
    return;
  }
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (Array.isArray(value)) for (const one of value) addField(head, name, one);
    else if (value !== undefined) addField(head, name, String(value));
  }
}

/** @throws TypeError */
function addField(head: Head, written: string, value: string): void {
  const name = fieldName(written);
  if (name === null || !isFieldValue(value))
    throw new TypeError(`the header ${written.slice(0, 40)} is none of HTTP`);
  switch (name) {
    case 'content-length':
      if (head.framing === 'chunked') head.framing = 'length';
      break;
    case 'date':
      head.hasDate = true;
      break;
    case NO_SNIFF:
      head.hasNoSniff = true;
      break;
    case 'connection':
      head.connection = /\bclose\b/i.test(value) ? 'closed' : 'kept';
      break;
    case 'keep-alive':
    case 'transfer-encoding':
      // These say how it is written here.
      return;
  }
  head.text += `${written}: ${value}${LINE_END}`;
}

function isFlat(headers: OutgoingHttpHeaders | readonly string[]): headers is readonly string[] {
  return Array.isArray(headers);
}
