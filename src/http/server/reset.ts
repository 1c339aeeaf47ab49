import type { ResponseSink } from '../response-sink.ts';

/**
 * Data that the kernel has not delivered when a connection is reset is lost, and no event reports its delivery. So the
 * connection gets this time after the last write, in milliseconds, and more if it carried much data.
 */
const LINGER_MS = { least: 50, most: 1000, perByte: 1 / 5000 };
/** A peer that takes none of what was written for so long gets no more of it. */
const FLUSH_MS = 10_000;

/**
 * Breaks an answer off by a TCP reset, after everything that was written is sent, followed by `last`; at once if nothing
 * of an answer was written. A FIN would look like the end of the answer: clients that repeat a request after a reset
 * (ECONNRESET) do not repeat it after a FIN.
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
