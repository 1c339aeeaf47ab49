import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait behind an earlier one of their connection; browsers and SDKs send none ahead. */
const MAX_WAITING = 6;

/** Bounds how many requests a client sends ahead of their answers: each waits in memory for the one before it. */
export interface PipelineLimit {
  /** False when there were too many: the connection is ended, and nothing of the request is to be served. */
  admit(request: IncomingMessage, response: ServerResponse): boolean;
}

export function createPipelineLimit(): PipelineLimit {
  const waiting = new WeakMap<Socket, number>();
  return {
    admit({ socket }, response) {
      if (socket.destroyed) return false;
      // Only the response whose turn it is has the socket.
      if (response.socket !== null) return true;
      const count = (waiting.get(socket) ?? 0) + 1;
      if (count > MAX_WAITING) {
        socket.destroy();
        return false;
      }
      waiting.set(socket, count);
      response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
      return true;
    },
  };
}
