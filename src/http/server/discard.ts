import type { IncomingMessage } from 'node:http';
import type { BodyInParts } from '../response-sink.ts';

/** How much of an unwanted body is read, so that its sender gets to read the answer. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * How long a client that continues to send may take to read the answer, in milliseconds. A connection that is closed with
 * bytes unread is reset, and a reset takes away what its peer has not read yet (RFC 9112, 9.6).
 */
const UNREAD_MS = 2_000;

/**
 * Reads and drops what is still to come of a body. `done` is called once: at its end, or a while after it has been enough,
 * and nothing more is read.
 */
export function discardBody(request: BodyInParts, done: () => void): void {
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    request.off('data', onData);
    request.off('end', stop);
    request.off('close', stop);
    done();
  };
  const onData = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= MAX_BYTES || timer !== undefined) return;
    request.pause();
    timer = setTimeout(stop, UNREAD_MS);
  };
  request.on('data', onData);
  request.once('end', stop);
  request.once('close', stop);
  request.resume();
}

/**
 * Reads and drops what is still to come of an unwanted body, within bounds; beyond them the connection is closed.
 * Node itself would read it without bounds on a kept connection.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  discardBody(request, () => {
    if (!request.complete) request.socket.destroySoon();
  });
}

/** Whether a body is, or may be, longer than what is read of an unwanted one. */
export function mayExceedDiscard({
  complete,
  destroyed,
  headers,
}: Pick<IncomingMessage, 'complete' | 'destroyed' | 'headers'>): boolean {
  if (complete || destroyed) return false;
  const declared = headers['content-length'];
  if (declared !== undefined) return Number(declared) > MAX_BYTES;
  return headers['transfer-encoding'] !== undefined;
}
