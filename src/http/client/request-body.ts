import type { Socket } from 'node:net';
import { ExchangeError } from './error.ts';
import type { BodyLength } from './request-head.ts';

/** Bytes at once, pieces that are there, or pieces that come as they are asked for. */
export type RequestBody = Buffer | Iterable<Buffer> | AsyncIterable<Buffer> | null;

/** Up to this size a body leaves in one write with its head; a copy of it costs less than a second buffer. */
const ONE_WRITE_BYTES = 4_096;

/** Sends a head with a body that is there as one buffer, or with none. */
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
  /** As the head says it. */
  declared: BodyLength;
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/**
 * Sends a body piece by piece, each when the one before has left.
 * @throws what the pieces throw, and ExchangeError where they are not as many bytes as was announced
 */
export async function sendPieces(socket: Socket, { declared, head, pieces }: PiecewiseInput): Promise<void> {
  let sent = 0;
  socket.write(head, 'latin1');
  const framed = declared === 'unknown';
  for await (const piece of pieces) {
    if (socket.destroyed) return;
    if (piece.length === 0) continue;
    sent += piece.length;
    if (!framed && sent > Number(declared)) throw wrongLength();
    if (!write(socket, piece, framed)) await drained(socket);
  }
  if (socket.destroyed) return;
  if (framed) socket.write('0\r\n\r\n', 'latin1');
  else if (sent !== Number(declared)) throw wrongLength();
}

function write(socket: Socket, piece: Buffer, framed: boolean): boolean {
  if (!framed) return socket.write(piece);
  socket.cork();
  socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
  socket.write(piece);
  const more = socket.write('\r\n', 'latin1');
  socket.uncork();
  return more;
}

function wrongLength(): ExchangeError {
  return new ExchangeError('ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'the body is not as long as was announced');
}

/** Resolves when the socket takes more, or is gone. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
