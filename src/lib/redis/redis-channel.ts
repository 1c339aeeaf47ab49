import { createAnswerWatch } from './answer-watch.ts';
import { createReconnectingClient, reconnect, SILENCE_MS } from './client.ts';

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

const PING_MS = 3_000;

/** Connects in the background, and again whenever the connection is lost. */
export async function openRedisChannel(input: RedisChannelInput): Promise<RedisChannel> {
  const { channel, onListening, onMessage, silenceMs = SILENCE_MS, url } = input;
  const connect = () => createReconnectingClient({ url, silenceMs, pingMs: PING_MS });
  const [sender, listener] = await Promise.all([connect(), connect()]);
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
        reconnect(sender);
        return watch.answered();
      }
      sender.publish(channel, text).then(watch.answered, watch.answered);
    },
    async close() {
      for (const client of [sender, listener]) if (client.isOpen) client.destroy();
    },
  };
}
