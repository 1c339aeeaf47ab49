import { GatewayError } from '../../lib/error.ts';
import { IncomingMessage } from './node-http.ts';

/** A body in more pieces than this has pieces of `LEAST_BYTES` on average. */
const MANY_PIECES = 2048;
const LEAST_BYTES = 64;

/**
 * Node's request, which ends the connection of a client that sends a body byte by byte: each chunk (RFC 9112, 7.1) costs
 * microseconds and an object, whatever its size, so that a stranger's few megabytes would take seconds and a gigabyte.
 */
export class ChunkyRequest extends IncomingMessage {
  #bytes = 0;
  #pieces = 0;

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) return super.push(null);
    if (this.destroyed) return false;
    this.#bytes += chunk.length;
    this.#pieces += 1;
    if (this.#pieces <= MANY_PIECES || this.#bytes >= this.#pieces * LEAST_BYTES)
      return super.push(chunk, encoding);
    this.destroy(
      new GatewayError(
        'request_too_large',
        `The request body came in ${this.#pieces} chunks for ${this.#bytes} bytes: send chunks of ${LEAST_BYTES} bytes and more`,
      ),
    );
    return false;
  }
}
