import type { OutgoingHttpHeaders } from 'node:http';
import type { ResponseSink } from '../../http/response-sink.ts';

/** What went to a client, whole. */
export interface RecordedAnswer {
  status: number;
  /** Flat. */
  headers: readonly string[];
  body: Buffer;
}

/** An outlet that passes everything on and keeps a copy of it, up to a bound. */
export class Recorder implements ResponseSink {
  readonly #inner: ResponseSink;
  readonly #maxBytes: number;
  /** Added to the headers, flat. */
  readonly #extra: readonly string[];
  #head: Pick<RecordedAnswer, 'status' | 'headers'> | null = null;
  #pieces: Buffer[] | null = [];
  #bytes = 0;

  constructor(inner: ResponseSink, { extra, maxBytes }: { extra: readonly string[]; maxBytes: number }) {
    this.#inner = inner;
    this.#extra = extra;
    this.#maxBytes = maxBytes;
  }

  get req(): ResponseSink['req'] {
    return this.#inner.req;
  }

  get destroyed(): boolean {
    return this.#inner.destroyed;
  }

  get headersSent(): boolean {
    return this.#inner.headersSent;
  }

  get writableEnded(): boolean {
    return this.#inner.writableEnded;
  }

  get writableNeedDrain(): boolean {
    return this.#inner.writableNeedDrain;
  }

  get socket(): ResponseSink['socket'] {
    return this.#inner.socket;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders | string[]): unknown {
    const flat = Array.isArray(headers) ? headers : [...flatten(headers)];
    this.#head = { status, headers: flat };
    return this.#inner.writeHead(status, [...flat, ...this.#extra]);
  }

  flushHeaders(): void {
    this.#inner.flushHeaders();
  }

  write(bytes: Buffer | string, onSent?: () => void): boolean {
    this.#keep(bytes, 'utf8');
    return this.#inner.write(bytes, onSent);
  }

  end(bytes?: Buffer | string, encoding?: BufferEncoding): unknown {
    if (bytes === undefined) return this.#inner.end();
    this.#keep(bytes, encoding ?? 'utf8');
    if (typeof bytes === 'string' && encoding !== undefined) return this.#inner.end(bytes, encoding);
    return this.#inner.end(bytes);
  }

  on(event: 'close' | 'drain', listener: () => void): unknown {
    return this.#inner.on(event, listener);
  }

  /** All that was sent; null when it was too much, or nothing. */
  recorded(): RecordedAnswer | null {
    if (this.#head === null || this.#pieces === null) return null;
    return { ...this.#head, body: Buffer.concat(this.#pieces) };
  }

  #keep(bytes: Buffer | string, encoding: BufferEncoding): void {
    if (this.#pieces === null) return;
    const piece = typeof bytes === 'string' ? Buffer.from(bytes, encoding) : bytes;
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) this.#pieces = null;
    else this.#pieces.push(piece);
  }
}

function* flatten(headers: OutgoingHttpHeaders): Iterable<string> {
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) yield* [name, String(one)];
  }
}
