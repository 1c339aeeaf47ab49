const nothing = Buffer.alloc(0);

/**
 * The part of a body that arrived with one read, in a buffer of its own: the memory that was read into is used for the next read, of
 * whichever connection.
 */
export class Payload {
  #bytes: Buffer = nothing;
  #length = 0;
  /** The most that can still be added. */
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  add(from: Buffer, start: number, end: number): void {
    if (this.#length === 0) this.#bytes = Buffer.allocUnsafe(this.#room);
    from.copy(this.#bytes, this.#length, start, end);
    this.#length += end - start;
  }

  /** Null where nothing came. */
  take(): Buffer | null {
    const bytes = this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length);
    return this.#length === 0 ? null : bytes;
  }
}
