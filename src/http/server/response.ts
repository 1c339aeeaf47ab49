import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { ServerResponse } from './node-http.ts';

/** The header that keeps browsers from guessing what an answer is, and from running what an upstream put into it. */
export const noSniff = { 'x-content-type-options': 'nosniff' } as const;
const [[NAME, VALUE]] = Object.entries(noSniff) as [[string, string]];

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A longer piece is sent as it is: to copy it costs more than a second buffer. */
export const ONE_PIECE_BYTES = 16_384;

/**
 * Node's response, which sends `noSniff` with every answer, and each piece of a chunked one together with its
 * chunk's size. Node sends the size, the piece and two line ends as four buffers, which costs a frame of a stream more than all
 * else that is done with it here.
 */
export class UnsniffedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Whether the head was written with a piece, so that only pieces follow. To HEAD there are none. */
  #begun = false;

  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, statusMessage?: string, headers?: Headers): this;
  override writeHead(status: number, message?: string | Headers, headers?: Headers): this {
    return typeof message === 'string'
      ? super.writeHead(status, message, unsniffed(headers))
      : super.writeHead(status, unsniffed(message));
  }

  override write(piece: Piece, onSent?: OnSent): boolean;
  override write(piece: Piece, encoding: BufferEncoding, onSent?: OnSent): boolean;
  override write(piece: Piece, encoding?: BufferEncoding | OnSent, onSent?: OnSent): boolean {
    if (typeof encoding === 'string') return super.write(piece, encoding, onSent);
    const isWhole = this.chunkedEncoding && this.writableCorked === 0;
    const chunk = isWhole && piece.length > 0 ? chunkOf(piece) : null;
    if (chunk === null) return super.write(piece, encoding);
    const socket = this.#begun ? this.#socketWithRoom(chunk.length) : null;
    if (socket !== null) return socket.write(chunk, 'latin1', encoding);
    // Node adds nothing to what it takes for no chunk.
    this.chunkedEncoding = false;
    this.#begun = this.req.method !== 'HEAD';
    try {
      return super.write(chunk, 'latin1', encoding);
    } finally {
      this.chunkedEncoding = true;
    }
  }

  /**
   * The connection, where Node's `write` would do nothing but give it these bytes, in the next tick: it is this answer's
   * turn, nothing waits to be sent before them, and there is room for them. Node has to see any other write, because it
   * tells when there is room again.
   */
  #socketWithRoom(bytes: number): Socket | null {
    const { socket } = this;
    if (socket === null || this.destroyed || this.writableEnded || !socket.writable) return null;
    const waiting = socket.writableLength;
    return this.writableLength === waiting && waiting + bytes < socket.writableHighWaterMark ? socket : null;
  }
}

/**
 * A piece as a chunk (RFC 9112, 7.1), with its size and line ends: bytes as Latin-1, a text as bytes. Node would put the head before a
 * text, and its Latin-1 would become UTF-8 with it.
 * @returns null for a piece that is better sent as it is, between its size and its line end
 */
export function chunkOf(piece: Piece): Buffer | string | null {
  if (typeof piece === 'string') {
    const bytes = Buffer.byteLength(piece);
    return bytes > ONE_PIECE_BYTES ? null : Buffer.from(`${bytes.toString(16)}\r\n${piece}\r\n`);
  }
  if (piece.length > ONE_PIECE_BYTES || !Buffer.isBuffer(piece)) return null;
  return `${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n`;
}

type Piece = string | Uint8Array;
type OnSent = (error: Error | null | undefined) => void;

/** @param headers as an object, or flat: name, value, name, value … */
function unsniffed(headers: Headers = {}): Headers {
  if (!Array.isArray(headers)) return { ...headers, [NAME]: VALUE };
  return headers.some(isNoSniff) ? headers : [...headers, NAME, VALUE];
}

/** Most names differ in length, which is compared first: this runs for every answer. */
function isNoSniff(name: OutgoingHttpHeader, index: number): boolean {
  if (index % 2 === 1 || typeof name !== 'string' || name.length !== NAME.length) return false;
  return name.toLowerCase() === NAME;
}
