import type { Socket } from 'node:net';
import { createIndexedSet, type IndexedMember } from '../../../lib/indexed-set.ts';
import { createHeadReader, type HeadReader, type SimpleHead } from './head.ts';
import { SimpleRequest } from './request.ts';
import { SimpleResponse, type SimpleResponseOptions } from './response.ts';

export interface FastPathOptions {
  /** Sizes in bytes, times in milliseconds. */
  limits: { headerBytes: number; headersTimeoutMs: number; bodyTimeoutMs: number };
  /** For how long an idle connection is kept. */
  keepAliveMs: number;
  /** How often times are checked. */
  checkMs: number;
  /** Whether requests to a path are served here. */
  takes(path: string): boolean;
  /** Serves a request, whose body may still be arriving. */
  onRequest(request: SimpleRequest, response: SimpleResponse): void;
  /** Hands a connection over to Node's parser for good. What the fast path read of it is put back before. */
  toNode(socket: Socket): void;
  /** Called when a body did not arrive in time: refuses the request and closes its connection. */
  onTimeout(socket: Socket): void;
}

/**
 * Reads what nearly all clients send to a model: one POST after the other, each with a simple head (`head.ts`) and a body of known
 * length, for less than half of the CPU time of Node's HTTP server. Every connection begins here. With the first request of another
 * kind it goes over to Node's server, which reads that request and all that follow.
 */
export interface FastPath {
  /** Reads a connection of which nothing was read. */
  accept(socket: Socket): void;
  /** Closes connections that are between two requests. */
  closeIdle(): void;
  /** Ends every connection at once. */
  close(): void;
}

interface Connection extends IndexedMember {
  readonly socket: Socket;
  /** The last request, while it arrives or is answered. */
  request: SimpleRequest | null;
  response: SimpleResponse | null;
  /** Bytes of its body that have not arrived. */
  missing: number;
  /** Bytes of the requests after it, which came before its answer was sent. */
  ahead: Buffer[];
  /** The memory that these take, in bytes. */
  aheadBytes: number;
  /** Whether a request was answered: a connection that has sent nothing yet is not idle. */
  wasUsed: boolean;
  /** When it is closed for being too slow, on the clock of `performance.now()`; infinite while its request is answered. */
  deadline: number;
  readonly answering: SimpleResponseOptions;
  readonly readHead: HeadReader;
  /** Stops listening to it. */
  release(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const POST = Buffer.from('POST /');
/** Requests with larger bodies go to Node's server, which reads a body no faster than it is used. */
const MAX_BODY_BYTES = 1_048_576;
/** How much memory further requests may take before the socket is paused. */
const MAX_AHEAD_BYTES = 65_536;
/** The memory that a piece takes beside its bytes. */
const PIECE_BYTES = 256;
/** A client may still send a request at the moment when the idle time ends. */
const GRACE_MS = 1000;

export function createFastPath(options: FastPathOptions): FastPath {
  const { keepAliveMs, limits } = options;
  const connections = createIndexedSet<Connection>();
  const keepAliveSeconds = Math.floor(keepAliveMs / 1000);
  const date = createDate();
  const watch = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.members()) if (connection.deadline < now) end(connection);
  }, options.checkMs).unref();

  /** Ends a connection whose deadline has passed. */
  const end = (connection: Connection): void => {
    const isArriving = connection.missing > 0;
    connection.deadline = Number.POSITIVE_INFINITY;
    if (isArriving) options.onTimeout(connection.socket);
    else connection.socket.destroy();
  };

  const begin = (connection: Connection, bytes: Buffer): void => {
    const { socket } = connection;
    // It could not be answered: the connection was refused, or its deadline has passed.
    if (!socket.writable) return;
    const headEnd = isPost(bytes) ? bytes.indexOf(HEAD_END) : -1;
    const isShort = headEnd !== -1 && headEnd <= limits.headerBytes;
    const head = isShort ? connection.readHead(bytes.toString('latin1', 0, headEnd)) : null;
    if (head === null || head.length > MAX_BODY_BYTES || !options.takes(pathOf(head))) {
      handOver(connection, bytes);
      return;
    }
    const request = new SimpleRequest(socket, head);
    const response = new SimpleResponse(request, socket, connection.answering);
    const bodyStart = headEnd + HEAD_END.length;
    const bodyEnd = Math.min(bytes.length, bodyStart + head.length);
    const body = bytes.subarray(bodyStart, bodyEnd);
    connection.request = request;
    connection.response = response;
    connection.missing = head.length - body.length;
    connection.deadline =
      connection.missing > 0 ? performance.now() + limits.bodyTimeoutMs : Number.POSITIVE_INFINITY;
    if (bodyEnd < bytes.length) hold(connection, bytes.subarray(bodyEnd));
    if (connection.missing === 0) request.arriveWhole(body);
    else request.arrive(body, false);
    options.onRequest(request, response);
  };

  const take = (connection: Connection, bytes: Buffer): void => {
    const { missing, request } = connection;
    if (request === null) begin(connection, bytes);
    else if (missing === 0) hold(connection, bytes);
    else {
      const part = bytes.length > missing ? bytes.subarray(0, missing) : bytes;
      if (part.length < bytes.length) hold(connection, bytes.subarray(part.length));
      connection.missing = missing - part.length;
      const isLast = connection.missing === 0;
      if (isLast) connection.deadline = Number.POSITIVE_INFINITY;
      request.arrive(part, isLast);
      if (isLast && connection.response === null) next(connection);
    }
  };

  const hold = (connection: Connection, bytes: Buffer): void => {
    connection.ahead.push(bytes);
    connection.aheadBytes += bytes.length + PIECE_BYTES;
    if (connection.aheadBytes > MAX_AHEAD_BYTES) connection.socket.pause();
  };

  const answered = (connection: Connection, { shouldKeepAlive }: SimpleResponse): void => {
    connection.response = null;
    if (!shouldKeepAlive) connection.socket.destroySoon();
    else if (connection.missing === 0) next(connection);
    // Reads and discards the rest of the body, whose length is known.
    else connection.request?.resume();
  };

  const next = (connection: Connection): void => {
    const { ahead, socket } = connection;
    connection.request = null;
    connection.wasUsed = true;
    connection.deadline = performance.now() + keepAliveMs + GRACE_MS;
    const [first] = ahead;
    if (first === undefined) return;
    connection.ahead = [];
    connection.aheadBytes = 0;
    socket.resume();
    begin(connection, ahead.length === 1 ? first : Buffer.concat(ahead));
  };

  const handOver = (connection: Connection, bytes: Buffer): void => {
    const { socket, release } = connection;
    release();
    // Paused, so that no byte is lost before Node's parser listens.
    socket.pause();
    socket.unshift(bytes);
    options.toNode(socket);
    socket.resume();
  };

  return {
    accept(socket) {
      const connection: Connection = {
        slot: -1,
        socket,
        request: null,
        response: null,
        missing: 0,
        ahead: [],
        aheadBytes: 0,
        wasUsed: false,
        deadline: performance.now() + Math.min(limits.headersTimeoutMs, limits.bodyTimeoutMs),
        readHead: createHeadReader(),
        answering: { keepAliveSeconds, date, onSent: (response) => answered(connection, response) },
        release() {
          connections.remove(connection);
          for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
        },
      };
      const listeners = {
        data: (bytes: Buffer) => take(connection, bytes),
        drain: () => connection.response?.roomAgain(),
        // A client that closes its side is taken for gone, as Node's server does.
        end: () => (connection.missing > 0 ? socket.destroy() : socket.end()),
        error: () => {},
        close() {
          connections.remove(connection);
          const { request, response } = connection;
          response?.close();
          request?.abort();
        },
      };
      connections.add(connection);
      for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
    },
    closeIdle() {
      for (const { request, socket, wasUsed } of connections.members())
        if (request === null && wasUsed) socket.destroy();
    },
    close() {
      clearInterval(watch);
      for (const { socket } of connections.members()) socket.destroy();
    },
  };
}

function pathOf({ target }: Pick<SimpleHead, 'target'>): string {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
}

function isPost(bytes: Buffer): boolean {
  return bytes.length >= POST.length && bytes.compare(POST, 0, POST.length, 0, POST.length) === 0;
}

/** The time as an HTTP date (RFC 9110, 5.6.7), written once a second. */
function createDate(): () => string {
  let second = -1;
  let text = '';
  return () => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) {
      second = now;
      text = new Date(now * 1000).toUTCString();
    }
    return text;
  };
}
