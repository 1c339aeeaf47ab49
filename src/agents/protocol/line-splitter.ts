const NEWLINE = 0x0a;

/** Cuts bytes into lines of UTF-8. Keeps what stands behind the last line end, up to a limit. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** @param maxBytes of one line */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that `chunk` completes, without their ends. @throws LineTooLongError */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) throw new LineTooLongError(this.#maxBytes);
    this.#pieces.push(piece);
  }

  #take(): string {
    const [only] = this.#pieces;
    const line = this.#pieces.length === 1 && only ? only : Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    return line.toString('utf8').trim();
  }
}

class LineTooLongError extends Error {
  constructor(maxBytes: number) {
    super(`a line is longer than ${maxBytes} bytes`);
    this.name = 'LineTooLongError';
  }
}
