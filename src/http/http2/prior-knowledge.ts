import type { Socket } from 'node:net';

/** What a client that speaks HTTP/2 sends first (RFC 9113, 3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** An error of Node's HTTP/1 parser. */
export interface ParseError extends Error {
  code?: string;
  reason?: string;
  /** What the parser was given last. Node uses its memory again. */
  rawPacket?: Buffer;
  /** How many bytes of it were read. */
  bytesParsed?: number;
}

/**
 * The bytes of a connection after the preface of HTTP/2, at which Node's HTTP/1 parser stops; null where it stopped at
 * something else. So HTTP/1 pays nothing for the difference, and its time limits hold until the preface is whole.
 */
export function behindPreface({ bytesParsed = 0, code, rawPacket }: ParseError): Buffer | null {
  if (code !== 'HPE_PAUSED_H2_UPGRADE') return null;
  return Buffer.from(rawPacket?.subarray(bytesParsed) ?? []);
}

/** Takes a socket away from Node's HTTP/1 server, which must have called `clientError` for it. Nothing is read meanwhile. */
export function detach(socket: Socket): void {
  socket.removeAllListeners('data');
  // A reader of its own makes Node give the socket's handle back, which its parser reads directly.
  const reader = () => {};
  socket.on('readable', reader);
  socket.off('readable', reader);
  socket.pause();
}

/** Gives a detached socket its first bytes back, for another reader to find. */
export function restorePreface(socket: Socket, behind: Buffer): void {
  // Losing its reader has resumed the socket.
  socket.pause();
  socket.unshift(Buffer.concat([PREFACE, behind]));
}
