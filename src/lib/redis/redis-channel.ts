import { createAnswerWatch } from './answer-watch.ts';

/** A channel of Redis by which processes tell each other what may be lost: who is not connected does not hear it. */
export interface RedisChannel {
  /** Sends a text to all who listen, this process included. Never waits; without a connection it is dropped. */
  send(text: string): void;
  close(): Promise<void>;
}

export interface RedisChannelInput {
  url: string;
  channel: string;
  onMessage(text: string): void;
  /** Called each time when it listens again: something may have been missed before. */
  onListening(): void;
  /** For how long a connection may be silent until it is given up, in milliseconds. Default 10,000. */
  silenceMs?: number;
}

const CONNECT_MS = 2_000;
const PING_MS = 3_000;
/** A connection on which nothing comes for so long is given up. */
const SILENCE_MS = 10_000;
const MAX_PAUSE_MS = 500;

/** Connects in the background, and again whenever the connection is lost. The package is loaded only here and in `redis.ts`. */
export async function openRedisChannel(input: RedisChannelInput): Promise<RedisChannel> {
  const { channel, onListening, onMessage, silenceMs = SILENCE_MS, url } = input;
  const { createClient } = await import('@redis/client');
  const connect = () =>
    createClient({
      url,
      disableOfflineQueue: true,
      pingInterval: PING_MS,
      socket: {
        connectTimeout: CONNECT_MS,
        socketTimeout: silenceMs,
        reconnectStrategy: (tries) => Math.min(MAX_PAUSE_MS, 50 * 2 ** Math.min(tries, 10)),
      },
    });
  const sender = connect();
  const listener = connect();
  // The connection of the budgets tells of a Redis that is away.
  for (const client of [sender, listener]) client.on('error', () => {});
  let subscribed = false;
  listener.on('ready', () => {
    // What was subscribed before, the client subscribes again itself.
    if (subscribed) return onListening();
    subscribed = true;
    listener.subscribe(channel, onMessage).then(onListening, () => {
      subscribed = false;
    });
  });
  for (const client of [sender, listener]) client.connect().catch(() => {});
  const watch = createAnswerWatch(silenceMs);
  return {
    send(text) {
      if (!sender.isReady) return;
      if (!watch.maySend()) {
        sender.destroy();
        sender.connect().catch(() => {});
        return watch.answered();
      }
      sender.publish(channel, text).then(watch.answered, watch.answered);
    },
    async close() {
      for (const client of [sender, listener]) if (client.isOpen) client.destroy();
    },
  };
}
