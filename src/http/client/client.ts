import type { buildConnector, Dispatcher } from 'undici';
import { Connection } from './connection.ts';
import { Exchange, type ExchangeHandler } from './exchange.ts';
import type { RequestBody } from './request-body.ts';
import { type BodyLength, type RequestHead, requestHead } from './request-head.ts';

export interface ClientOptions {
  /** Opens sockets, with `onread` of `connection.ts`. */
  connect: buildConnector.connector;
  /** Whether a connection carries more than one request. */
  keepAlive: boolean;
  /** How long an idle connection is kept where the server does not say, in milliseconds. */
  keepAliveMs: number;
  maxHeadBytes: number;
}

/** An HTTP/1.1 client of one origin, with as many connections as there are requests at a time. */
export interface Client {
  /**
   * Sends a request; the handler is called as undici's are, and when a body in pieces has left. Of the options it knows method, path, headers (flat) and body (a
   * buffer, or an iterable of buffers).
   * @throws TypeError for a request that HTTP does not have
   */
  dispatch(options: Dispatcher.DispatchOptions, handler: ExchangeHandler): boolean;
  /** Ends every connection, whatever it carries. */
  destroy(): Promise<void>;
}

/** A connection is not used so shortly before the server closes it for being idle (undici has the same). */
const MARGIN_MS = 2_000;
const MAX_KEEP_ALIVE_MS = 600_000;
const SWEEP_MS = 1_000;

/** @param origin scheme, host and port */
export function createClient(origin: string, options: ClientOptions): Client {
  const { host, hostname, port, protocol } = new URL(origin);
  const open = new Set<Connection>();
  /** The most recently used last: it is the first to be used again, so that the others are closed in time. */
  const idle: Connection[] = [];
  const waiting = new Set<Exchange>();
  /** Requests of this turn for connections that were used before. */
  let ready: { connection: Connection; exchange: Exchange }[] = [];
  let sweeping: NodeJS.Timeout | null = null;
  let destroyed = false;

  const sweep = (): void => {
    sweeping = null;
    const now = performance.now();
    for (const connection of idle.filter(({ idleUntil }) => idleUntil <= now)) connection.drop();
    scheduleSweep();
  };
  const scheduleSweep = (): void => {
    if (idle.length > 0) sweeping ??= setTimeout(sweep, SWEEP_MS).unref();
  };
  const connectionOptions = {
    maxHeadBytes: options.maxHeadBytes,
    reusable: options.keepAlive,
    onIdle(connection: Connection): void {
      const announcedMs = connection.keepAliveMs;
      const ms =
        announcedMs === null ? options.keepAliveMs : Math.min(announcedMs - MARGIN_MS, MAX_KEEP_ALIVE_MS);
      if (ms <= 0 || destroyed) {
        connection.drop();
        return;
      }
      if (!connection.usable) return;
      connection.idleUntil = performance.now() + ms;
      connection.ref(false);
      idle.push(connection);
      scheduleSweep();
    },
    onClosed(connection: Connection): void {
      open.delete(connection);
      const at = idle.indexOf(connection);
      if (at !== -1) idle.splice(at, 1);
    },
  };

  const openFor = (exchange: Exchange): void => {
    waiting.add(exchange);
    options.connect({ hostname, host, protocol, port }, (error, socket) => {
      waiting.delete(exchange);
      if (error !== null) {
        exchange.fail(error);
        return;
      }
      if (exchange.over || destroyed) {
        socket.destroy();
        return;
      }
      const connection = new Connection(socket, connectionOptions);
      open.add(connection);
      connection.send(exchange);
    });
  };
  /** Sends on connections that were idle, unless they turn out to be closed, or to carry data that was not requested. */
  const sendReady = (): void => {
    const batch = ready;
    ready = [];
    for (const { connection, exchange } of batch) {
      if (exchange.over) connectionOptions.onIdle(connection);
      else if (connection.usable) connection.send(exchange);
      else openFor(exchange);
    }
  };
  const takeIdle = (): Connection | null => {
    const now = performance.now();
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.usable && connection.idleUntil > now) return connection;
      connection.drop();
    }
    return null;
  };

  return {
    dispatch(dispatchOptions, handler) {
      const body = dispatchOptions.body as RequestBody;
      const length: BodyLength = body === null ? null : Buffer.isBuffer(body) ? body.length : 'unknown';
      const head = requestHead(dispatchOptions as RequestHead, host, length, options.keepAlive);
      const exchange = new Exchange(handler, { head: head.text, declared: head.declared, body });
      const connection = takeIdle();
      if (connection === null) {
        openFor(exchange);
        return true;
      }
      connection.ref(true);
      if (ready.length === 0) setImmediate(sendReady);
      ready.push({ connection, exchange });
      return true;
    },
    async destroy() {
      destroyed = true;
      if (sweeping !== null) clearTimeout(sweeping);
      const closedError = new Error('the client was closed');
      for (const exchange of waiting) exchange.fail(closedError);
      for (const connection of open) connection.drop();
    },
  };
}
