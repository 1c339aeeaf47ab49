import type { Socket } from 'node:net';
import { ChunkyRequest } from '../request.ts';
import type { SimpleHead } from './head.ts';

/** Node's request, whose head and perhaps body were read before. */
export class SimpleRequest extends ChunkyRequest {
  /** The whole body, until something takes or reads it; null where some of it was still to come. */
  #whole: Buffer | null = null;
  #wasTaken = false;

  constructor(socket: Socket, { headers, rawHeaders, target }: SimpleHead) {
    super(socket);
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.httpVersion = '1.1';
    this.method = 'POST';
    this.url = target;
    this.rawHeaders = rawHeaders;
    this.headers = headers;
  }

  /** Gives it the next bytes of its body. @param isLast whether no more are missing */
  arrive(bytes: Buffer, isLast: boolean): void {
    this.complete = isLast;
    if (bytes.length > 0) this.push(bytes);
    if (isLast) this.push(null);
  }

  /** Gives it all of its body. */
  arriveWhole(bytes: Buffer): void {
    this.complete = true;
    this.#whole = bytes;
  }

  /** The body, where it came with the head and nothing was read of it; it cannot be read any more then. */
  takeWhole(): Buffer | null {
    const whole = this.#whole;
    this.#whole = null;
    this.#wasTaken ||= whole !== null;
    return whole;
  }

  /** Called when its client has left: reading what is left of its body fails, as with Node's requests. */
  abort(): void {
    if (this.#wasTaken || this.destroyed) return;
    this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  }

  override _read(): void {
    const whole = this.#whole;
    if (whole === null) return;
    this.#whole = null;
    this.arrive(whole, true);
  }
}
