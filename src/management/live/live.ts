import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import { securityHeaders } from '../guard/security-headers.ts';

/** What can be watched, and the permission that it needs. */
export const topics = {
  requests: 'requests:read',
  services: 'services:read',
  logs: 'logs:read',
} as const;

export type Topic = keyof typeof topics;

export function isTopic(text: string): text is Topic {
  return Object.hasOwn(topics, text);
}

interface LiveEvent {
  id: number;
  topic: Topic;
  /** JSON text. */
  data: string;
}

interface Watcher {
  exchange: Exchange;
  userId: string;
  topics: ReadonlySet<Topic>;
  login: WatcherLogin;
  /** Events that were left out because the watcher does not read. */
  missed: number;
}

/** The login with which somebody watches. */
export interface WatcherLogin {
  userId: string;
  /** When it ends, in milliseconds since the epoch; null where it does not. */
  until: number | null;
  /** Whether it still is one that may watch this: it may be ended before its time. */
  lasts(): Promise<boolean>;
}

/** What happens in the gateway, for those who watch, as server-sent events. */
export interface Live {
  /** Tells everybody who watches `topic`. Costs nothing while nobody does. */
  publish(topic: Topic, event: () => object): void;
  /**
   * Keeps the exchange open and sends it events: `event: TOPIC`, `id: N`, `data: JSON`.
   * @param since the id of the last event that the watcher has seen; it gets what came after, as far back as is kept
   * @param login the stream ends with it
   * @throws GatewayError `rate_limit_exceeded` where the user, or all users together, have too many streams
   */
  watch(exchange: Exchange, wanted: readonly Topic[], since: number | null, login: WatcherLogin): void;
  watching(): number;
  /** Ends every stream. */
  close(): void;
}

const KEPT_EVENTS = 500;
const MAX_WATCHERS = 64;
/** A dashboard has one for each of its windows; no user takes those of the others. */
const MAX_WATCHERS_OF_USER = 8;
const RETRY_AFTER_S = 30;
const KEEP_ALIVE_MS = 15_000;
/** How soon a login that was ended is noticed. */
const LOOK_MS = 1000;
/** A watcher that leaves so much unread misses events until it has caught up. */
const MAX_BUFFERED = 1_048_576;

function createLive(now: () => number = Date.now): Live {
  const kept: LiveEvent[] = [];
  const watchers = new Set<Watcher>();
  let lastId = 0;
  let timers: NodeJS.Timeout[] = [];

  const send = (watcher: Watcher, { data, id, topic }: LiveEvent): void => {
    const { response } = watcher.exchange;
    if (response.writableLength > MAX_BUFFERED) {
      watcher.missed += 1;
      return;
    }
    if (watcher.missed > 0) {
      response.write(`event: missed\ndata: {"events":${watcher.missed}}\n\n`);
      watcher.missed = 0;
    }
    response.write(`event: ${topic}\nid: ${id}\ndata: ${data}\n\n`);
  };
  const keepAlive = () => {
    for (const { exchange } of watchers)
      if (!exchange.response.writableNeedDrain) exchange.response.write(': keep-alive\n\n');
  };
  const leave = (watcher: Watcher) => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    timers = [];
    // Nobody is there to come back for them.
    kept.length = 0;
  };
  return {
    publish(topic, event) {
      if (watchers.size === 0) return;
      lastId += 1;
      const live: LiveEvent = { id: lastId, topic, data: JSON.stringify(event()) };
      kept.push(live);
      if (kept.length > KEPT_EVENTS) kept.shift();
      for (const watcher of watchers) if (watcher.topics.has(topic)) send(watcher, live);
    },
    watch(exchange, wanted, since, login) {
      const { userId } = login;
      refuseCrowd(watchers, userId);
      const { response } = exchange;
      const watcher: Watcher = { exchange, userId, topics: new Set(wanted), login, missed: 0 };
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
      for (const event of since === null ? [] : kept)
        if (event.id > (since ?? 0) && watcher.topics.has(event.topic)) send(watcher, event);
    },
    watching: () => watchers.size,
    close() {
      for (const { exchange } of watchers) exchange.response.end();
    },
  };
}

/** The streams of those who watch, which show lines of the log too. */
export function openLive({
  onClose,
  onLive,
}: {
  onClose(close: () => void): void;
  /** Is given who shows lines of the log. */
  onLive(listener: (line: string) => void): void;
}): Live {
  const live = createLive();
  onClose(() => live.close());
  onLive((line) => live.publish('logs', () => Object(JSON.parse(line))));
  return live;
}

/** @throws GatewayError `rate_limit_exceeded` */
function refuseCrowd(watchers: ReadonlySet<Watcher>, userId: string): void {
  const own = [...watchers].filter((watcher) => watcher.userId === userId).length;
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
