import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import { securityHeaders } from '../guard/security-headers.ts';

/** The login with which somebody watches. */
export interface WatcherLogin {
  userId: string;
  /** When it ends, in milliseconds since the epoch; null where it does not. */
  until: number | null;
  /** Whether it still is one that may watch this: it may be ended before its time. */
  lasts(): Promise<boolean>;
}

/** One server-sent event. */
export interface StreamEvent {
  event: string;
  id?: number;
  /** One line. */
  data: string;
}

/** Answers that go on as server-sent events, for as long as a login lasts. */
export interface EventStreams {
  /**
   * Answers with a stream, which has `event: missed` with how many were left out where the watcher does not read.
   * @returns what sends an event, and does nothing once the stream has ended
   * @throws GatewayError `rate_limit_exceeded` where the user, or all users together, have too many streams
   */
  open(exchange: Exchange, login: WatcherLogin): (event: StreamEvent) => void;
  /** Ends every stream. */
  close(): void;
}

interface Watcher {
  exchange: Exchange;
  login: WatcherLogin;
  /** Events that were left out because the watcher does not read. */
  missed: number;
}

const MAX_WATCHERS = 64;
/** A dashboard has one for each of its windows; no user takes those of the others. */
const MAX_WATCHERS_OF_USER = 8;
const RETRY_AFTER_S = 30;
const KEEP_ALIVE_MS = 15_000;
/** How soon a login that was ended is noticed. */
const LOOK_MS = 1000;
/** A watcher that leaves so much unread misses events until it has caught up. */
const MAX_BUFFERED = 1_048_576;

export function createEventStreams(now: () => number = Date.now): EventStreams {
  const watchers = new Set<Watcher>();
  let timers: NodeJS.Timeout[] = [];

  const keepAlive = () => {
    for (const { exchange } of watchers)
      if (!exchange.response.writableNeedDrain) exchange.response.write(': keep-alive\n\n');
  };
  const leave = (watcher: Watcher) => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    timers = [];
  };
  return {
    open(exchange, login) {
      refuseCrowd(watchers, login.userId);
      const { response } = exchange;
      const watcher: Watcher = { exchange, login, missed: 0 };
      watchers.add(watcher);
      if (timers.length === 0)
        timers = [
          setInterval(keepAlive, KEEP_ALIVE_MS).unref(),
          setInterval(() => endThoseLoggedOut(watchers), LOOK_MS).unref(),
        ];
      const { until } = login;
      const end =
        until === null ? null : setTimeout(() => response.end(), Math.max(0, until - now())).unref();
      response.on('close', () => {
        if (end !== null) clearTimeout(end);
        leave(watcher);
      });
      response.writeHead(200, {
        ...securityHeaders,
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
        'x-request-id': exchange.id,
      });
      response.write(': watching\n\n');
      return (event) => send(watcher, event);
    },
    close() {
      for (const { exchange } of watchers) exchange.response.end();
    },
  };
}

function send(watcher: Watcher, { data, event, id }: StreamEvent): void {
  const { response } = watcher.exchange;
  if (response.writableEnded) return;
  if (response.writableLength > MAX_BUFFERED) {
    watcher.missed += 1;
    return;
  }
  if (watcher.missed > 0) {
    response.write(`event: missed\ndata: {"events":${watcher.missed}}\n\n`);
    watcher.missed = 0;
  }
  response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`);
}

/** @throws GatewayError `rate_limit_exceeded` */
function refuseCrowd(watchers: ReadonlySet<Watcher>, userId: string): void {
  const own = [...watchers].filter(({ login }) => login.userId === userId).length;
  if (own >= MAX_WATCHERS_OF_USER)
    throw new GatewayError(
      'rate_limit_exceeded',
      `You have ${own} live streams open, and may have ${MAX_WATCHERS_OF_USER}: close one of them`,
      { retryAfter: RETRY_AFTER_S },
    );
  if (watchers.size >= MAX_WATCHERS)
    throw new GatewayError(
      'rate_limit_exceeded',
      `All users together have ${watchers.size} live streams open, and may have ${MAX_WATCHERS}: try again later`,
      { retryAfter: RETRY_AFTER_S },
    );
}

function endThoseLoggedOut(watchers: Iterable<Watcher>): void {
  for (const { exchange, login } of watchers)
    login.lasts().then(
      (lasts) => lasts || exchange.response.end(),
      // Who may watch cannot be told just now, so nobody does.
      () => exchange.response.end(),
    );
}
