import type { ResponseSink } from '../response-sink.ts';

/**
 * What the kernel has not delivered when a connection is reset is lost, and no event tells when it has. So it gets time
 * after it took the last bytes, in milliseconds, and more where the connection carried much.
 */
const LINGER_MS = { least: 50, most: 1000, perByte: 1 / 5000 };
/** A peer that takes none of what was written for so long gets no more of it. */
const FLUSH_MS = 10_000;

/**
 * Breaks an answer off by a TCP reset, after all that was written has left, and `last` behind it; at once where nothing of
 * an answer was written. A FIN would look like the end of the answer: clients that repeat a request after a reset
 * (ECONNRESET) do not after that.
 */
export function resetConnection(response: ResponseSink, last: Buffer | string = ''): void {
  if (response.destroyed) return;
  const reset = () => response.socket?.resetAndDestroy();
  if (!response.headersSent) {
    reset();
    return;
  }
  const timer = setTimeout(reset, FLUSH_MS).unref();
  response.write(last, () => {
    clearTimeout(timer);
    const { least, most, perByte } = LINGER_MS;
    const ms = least + (response.socket?.bytesWritten ?? 0) * perByte;
    setTimeout(reset, Math.min(ms, most)).unref();
  });
}
