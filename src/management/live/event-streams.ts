import type { Exchange } from '../../http/server/server.ts';
import { securityHeaders } from '../guard/security-headers.ts';
import { createWatchers, type WatcherLogin, type Watchers } from './watchers.ts';

/** One server-sent event. */
export interface StreamEvent {
  event: string;
  id?: number;
  /** One line. */
  data: string;
}

/** Answers that go on as server-sent events, for as long as a login lasts. */
export interface EventStreams {
  /** Those who watch, with those who do it in another protocol. */
  readonly watchers: Watchers;
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
  /** Events that were left out because the watcher does not read. */
  missed: number;
}

const KEEP_ALIVE_MS = 15_000;
/** A watcher that leaves so much unread misses events until it has caught up. */
const MAX_BUFFERED = 1_048_576;

export function createEventStreams(crowd: Watchers = createWatchers()): EventStreams {
  const watchers = new Set<Watcher>();
  let beat: NodeJS.Timeout | undefined;

  const keepAlive = () => {
    for (const { exchange } of watchers)
      if (!exchange.response.writableNeedDrain) exchange.response.write(': keep-alive\n\n');
  };
  return {
    watchers: crowd,
    open(exchange, login) {
      const { response } = exchange;
      const leave = crowd.enter(login, () => response.end());
      const watcher: Watcher = { exchange, missed: 0 };
      watchers.add(watcher);
      beat ??= setInterval(keepAlive, KEEP_ALIVE_MS).unref();
      response.on('close', () => {
        leave();
        watchers.delete(watcher);
        if (watchers.size > 0) return;
        clearInterval(beat);
        beat = undefined;
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
