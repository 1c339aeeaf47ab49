import type { OnReadOpts, Socket } from 'node:net';
import { closedEarly } from './error.ts';
import type { Exchange } from './exchange.ts';
import { sendPieces, sendWhole } from './request-body.ts';
import { ResponseReader } from './response-reader.ts';

/** Every socket reads into the same memory: what is read is looked at, and copied, before the next read. */
const READ_BYTES = 65_536;

const connectionOf = Symbol('the connection of a socket');

type OwnSocket = Socket & { [connectionOf]?: Connection };

/** Gives what a socket has read to its connection. @returns whether more is to be read now */
function onRead(this: OwnSocket, length: number, buffer: Uint8Array): boolean {
  return this[connectionOf]?.read(buffer as Buffer, length) ?? true;
}

/** How a socket of this client is to be opened; Node calls `callback` as a method of the socket. */
export const onread: OnReadOpts = {
  buffer: Buffer.allocUnsafeSlow(READ_BYTES),
  callback: onRead as OnReadOpts['callback'],
};

export interface ConnectionOptions {
  /** Most bytes of the head of a response. */
  maxHeadBytes: number;
  /** Whether it may carry more than one exchange. */
  reusable: boolean;
  /** Called when it has carried an exchange and could carry another. */
  onIdle(connection: Connection): void;
  /** Called when it is closed. */
  onClosed(connection: Connection): void;
}

/** A connection to a server, which carries one exchange at a time. A class, because there is one for every open stream. */
export class Connection {
  readonly #socket: OwnSocket;
  readonly #options: ConnectionOptions;
  #exchange: Exchange | null = null;
  #reader: ResponseReader | null = null;
  /** Whether the request is still being sent. */
  #sending = false;
  /** For how long the server keeps it while it is idle, in milliseconds, from its last response; null if it named no time. */
  keepAliveMs: number | null = null;
  /** On the monotonic clock, in milliseconds, when an idle one is closed. */
  idleUntil = 0;

  /** @param socket connected, and opened with `onread` */
  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#socket[connectionOf] = this;
    socket.on('error', onError);
    socket.on('end', onEnd);
    socket.on('close', onClose);
  }

  get usable(): boolean {
    return !this.#socket.destroyed && this.#socket.writable && this.#exchange === null;
  }

  /** Keeps the process alive, or does not, for its sake. */
  ref(keepsProcess: boolean): void {
    if (keepsProcess) this.#socket.ref();
    else this.#socket.unref();
  }

  send(exchange: Exchange): void {
    const request = exchange.begin(this);
    if (request === null) {
      this.drop();
      return;
    }
    this.#exchange = exchange;
    this.#reader = new ResponseReader(exchange, this.#options.maxHeadBytes);
    const { body, declared, head } = request;
    if (body === null || Buffer.isBuffer(body)) {
      sendWhole(this.#socket, head, body);
      return;
    }
    this.#sending = true;
    sendPieces(this.#socket, { head, declared, pieces: body }).then(
      (isSent) => {
        this.#sending = false;
        if (isSent) exchange.sent();
      },
      (error: Error) => exchange.fail(error),
    );
  }

  /** @returns whether more is to be read now */
  read(buffer: Buffer, length: number): boolean {
    const reader = this.#reader;
    const exchange = this.#exchange;
    if (reader === null || exchange === null) {
      // There is no request: these bytes could be taken for the response to the next one.
      this.drop();
      return false;
    }
    try {
      const consumed = reader.read(length === buffer.length ? buffer : buffer.subarray(0, length));
      if (consumed < length) this.drop();
    } catch (error) {
      exchange.fail(error as Error);
    }
    return !exchange.paused;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Gives up the connection and what is on its way. */
  drop(): void {
    this.#socket.destroy();
  }

  /** The response is complete. */
  release(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = null;
    this.#reader = null;
    const { reusable } = this.#options;
    // An answer that came before all of the request was sent leaves no room for another (RFC 9112, 9.3).
    if (!reusable || this.#sending || !exchange.persistent) {
      this.drop();
      return;
    }
    this.keepAliveMs = exchange.keepAliveMs;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#options.onIdle(this);
  }

  ended(error: Error): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#reader = null;
    if (exchange?.complete === false) exchange.fail(error);
  }

  /** The server sends no more. */
  finished(): void {
    const exchange = this.#exchange;
    try {
      this.#reader?.end();
    } catch (error) {
      exchange?.fail(error as Error);
    }
    this.drop();
  }

  closed(): void {
    this.ended(closedEarly());
    this.#options.onClosed(this);
  }
}

function onError(this: OwnSocket, error: Error): void {
  this[connectionOf]?.ended(error);
}

function onEnd(this: OwnSocket): void {
  this[connectionOf]?.finished();
}

function onClose(this: OwnSocket): void {
  this[connectionOf]?.closed();
}
