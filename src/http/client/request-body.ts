import type { Socket } from 'node:net';
import { ExchangeError } from './error.ts';
import type { BodyLength } from './request-head.ts';

/** One buffer, pieces that exist already, or pieces that are produced on demand. */
export type RequestBody = Buffer | Iterable<Buffer> | AsyncIterable<Buffer> | null;

/** Up to this size a body is written together with its head; a copy of it costs less than a second buffer. */
const ONE_WRITE_BYTES = 4_096;

/** Pieces that exist already are written together up to this size: one system call, one wait. */
const BATCH_BYTES = 262_144;

/** Sends a head with a body that is one buffer, or without a body. */
export function sendWhole(socket: Socket, head: string, body: Buffer | null): void {
  if (body === null) socket.write(head, 'latin1');
  else if (body.length <= ONE_WRITE_BYTES) socket.write(head + body.toString('latin1'), 'latin1');
  else {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }
}

export interface PiecewiseInput {
  head: string;
  /** The length that the head names. */
  declared: BodyLength;
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/**
 * Sends a body in pieces, the next ones when those before have left.
 * @returns whether the system has taken all of it, so that the pieces are not read any more; false where the socket
 *   was closed
 * @throws what the pieces throw, and ExchangeError where they are not as many bytes as was announced
 */
export async function sendPieces(
  socket: Socket,
  { declared, head, pieces }: PiecewiseInput,
): Promise<boolean> {
  const framed = declared === 'unknown';
  const isThere = Symbol.iterator in pieces;
  let sentBytes = 0;
  if (isThere) socket.cork();
  socket.write(head, 'latin1');
  for await (const batch of isThere ? batches(pieces) : single(pieces)) {
    if (socket.destroyed) return false;
    const bytes = batch.reduce((sum, piece) => sum + piece.length, 0);
    if (bytes === 0) continue;
    sentBytes += bytes;
    if (!framed && sentBytes > Number(declared)) throw wrongLength();
    if (socket.writableCorked === 0) socket.cork();
    if (!(await written(socket, framed ? batch.flatMap(chunk) : batch))) return false;
  }
  if (socket.destroyed) return false;
  if (!framed && sentBytes !== Number(declared)) throw wrongLength();
  return written(socket, framed ? [lastChunk] : []);
}

const lineEnd = Buffer.from('\r\n');

/** A piece as a chunk (RFC 9112, 7.1); one of no bytes would end the body. */
function chunk(piece: Buffer): Buffer[] {
  return piece.length === 0 ? [] : [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, lineEnd];
}

const lastChunk = Buffer.from('0\r\n\r\n');

/** Pieces that exist already, as many at a time as are written together. */
function* batches(pieces: Iterable<Buffer>): Generator<readonly Buffer[]> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    batch.push(piece);
    bytes += piece.length;
    if (bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  yield batch;
}

/** Pieces that are produced on demand, one at a time. */
async function* single(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  for await (const piece of pieces) yield [piece];
}

/** Writes, after what was held back, and waits. @returns whether the system has taken it; false where the socket was closed */
function written(socket: Socket, pieces: readonly Buffer[]): Promise<boolean> {
  const last = pieces.length - 1;
  return new Promise((resolve) => {
    // Node also calls back, without an error, for what a closed socket has not sent.
    const done = (error?: Error | null) => resolve(error == null && !socket.destroyed);
    for (const [index, piece] of pieces.entries())
      if (index === last) socket.write(piece, done);
      else socket.write(piece);
    socket.uncork();
    if (last === -1) resolve(true);
  });
}

function wrongLength(): ExchangeError {
  return new ExchangeError('ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'the body is not as long as was announced');
}
