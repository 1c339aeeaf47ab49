import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** What is used of a request to read the rest of its body, whichever version of HTTP it came by. */
export interface ArrivingRequest
  extends Pick<IncomingMessage, 'complete' | 'destroyed' | 'headers' | 'method'>,
    BodyInParts {}

export interface BodyInParts {
  on(event: 'data', listener: (piece: Buffer) => void): unknown;
  once(event: 'close' | 'end', listener: () => void): unknown;
  off(event: 'close' | 'data' | 'end', listener: (() => void) | ((piece: Buffer) => void)): unknown;
  pause(): unknown;
  resume(): unknown;
}

/**
 * Where an answer goes: the part of Node's `ServerResponse` that handlers may use, so that something else can
 * stand in for one.
 */
export interface ResponseSink {
  /** The request, where its body may still be arriving. */
  readonly req?: ArrivingRequest;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  /** True while the peer takes no more; `drain` is emitted when it does. */
  readonly writableNeedDrain: boolean;
  /** What carries the answer. To break an answer off, use `resetConnection`, which first sends what was written. */
  readonly socket: { readonly bytesWritten: number; resetAndDestroy(): unknown } | null;
  /** Headers as an object, or flat: name, value, name, value … */
  writeHead(status: number, headers: OutgoingHttpHeaders | string[]): unknown;
  flushHeaders(): void;
  /** False when the peer takes no more for now. `onSent` is called once the bytes have left. */
  write(bytes: Buffer | string, onSent?: () => void): boolean;
  end(): unknown;
  end(bytes: Buffer | string): unknown;
  end(text: string, encoding: BufferEncoding): unknown;
  /** `close` is emitted once, when the answer has ended or its client is gone. */
  on(event: 'close' | 'drain', listener: () => void): unknown;
}

/** Where a server's own answer goes. */
export interface ServerSink extends ResponseSink {
  readonly statusCode: number;
  /** Whether all of the answer was given to the system. */
  readonly writableFinished: boolean;
  /** Whether the connection is kept for another request. It can be changed until the head is written. */
  shouldKeepAlive: boolean;
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}
