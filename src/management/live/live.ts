import type { Exchange } from '../../http/server/server.ts';
import type { EventStreams, StreamEvent } from './event-streams.ts';
import type { WatcherLogin } from './watchers.ts';

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

interface LiveEvent extends StreamEvent {
  id: number;
  event: Topic;
}

interface Watcher {
  topics: ReadonlySet<Topic>;
  send(event: StreamEvent): void;
}

/** What happens in the gateway, for those who watch, as server-sent events. */
export interface Live {
  /** Sends to all watchers of `topic`. Costs nothing without watchers. */
  publish(topic: Topic, event: () => object): void;
  /**
   * Keeps the exchange open and sends it events: `event: TOPIC`, `id: N`, `data: JSON`.
   * @param since the id of the last event that the watcher has seen; it gets what came after, as far back as is kept
   * @param login the stream ends with it
   * @throws GatewayError `rate_limit_exceeded` where the user, or all users together, have too many streams
   */
  watch(exchange: Exchange, topics: readonly Topic[], since: number | null, login: WatcherLogin): void;
  watching(): number;
}

const KEPT_EVENTS = 500;

function createLive(streams: Pick<EventStreams, 'open'>): Live {
  const recentEvents: LiveEvent[] = [];
  const watchers = new Set<Watcher>();
  let lastId = 0;

  return {
    publish(topic, event) {
      if (watchers.size === 0) return;
      lastId += 1;
      const live: LiveEvent = { id: lastId, event: topic, data: JSON.stringify(event()) };
      recentEvents.push(live);
      if (recentEvents.length > KEPT_EVENTS) recentEvents.shift();
      for (const { send, topics: watched } of watchers) if (watched.has(topic)) send(live);
    },
    watch(exchange, topics, since, login) {
      const watcher: Watcher = { topics: new Set(topics), send: streams.open(exchange, login) };
      watchers.add(watcher);
      exchange.response.on('close', () => {
        watchers.delete(watcher);
        // Nobody is there to come back for them.
        if (watchers.size === 0) recentEvents.length = 0;
      });
      for (const live of since === null ? [] : recentEvents)
        if (live.id > (since ?? 0) && watcher.topics.has(live.event)) watcher.send(live);
    },
    watching: () => watchers.size,
  };
}

/** The streams of those who watch, which show lines of the log too. */
export function openLive(
  streams: Pick<EventStreams, 'open'>,
  /** Is given who shows lines of the log. */
  onLive: (listener: (line: string) => void) => void,
): Live {
  const live = createLive(streams);
  onLive((line) => live.publish('logs', () => Object(JSON.parse(line))));
  return live;
}
