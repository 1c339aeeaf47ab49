import { createHash } from 'node:crypto';
import { createAnswerWatch } from './answer-watch.ts';
import { CONNECT_MS, createReconnectingClient, reconnect, SILENCE_MS } from './client.ts';

export interface RedisConnection {
  /** Whether there is a connection. */
  ready(): boolean;
  /** Runs a Lua script; Redis is sent its text only when it does not know it. @throws when there is no connection */
  run(script: RedisScript, keys: readonly string[], values: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

export interface RedisScript {
  readonly text: string;
  readonly sha: string;
}

export interface RedisConnectionInput {
  url: string;
  /** Called with each error of the connection, which is made again and again for ever. */
  onError(error: Error): void;
  /** Called each time when there is a connection. */
  onReady(): void;
  /** For how long nothing may be answered until a connection is given up, in milliseconds. Default 10,000. */
  silenceMs?: number;
}

export function redisScript(text: string): RedisScript {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Connects to Redis, waiting 2 seconds at most, and again whenever the connection is lost. */
export async function connectRedis({
  onError,
  onReady,
  silenceMs = SILENCE_MS,
  url,
}: RedisConnectionInput): Promise<RedisConnection> {
  const client = await createReconnectingClient({ url, silenceMs });
  client.on('error', onError);
  client.on('ready', onReady);
  const watch = createAnswerWatch(silenceMs);
  client.on('ready', watch.answered);
  const send = async (command: string[]): Promise<unknown> => {
    if (!watch.maySend()) {
      watch.answered();
      reconnect(client);
      onError(new Error(`Redis has not answered for ${silenceMs / 1_000} s`));
    }
    // Without a connection, the client refuses it at once.
    return client.sendCommand(command).finally(watch.answered);
  };
  const first = client.connect().catch(() => {});
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
  return {
    ready: () => client.isReady,
    async run({ sha, text }, keys, values) {
      const rest = [String(keys.length), ...keys, ...values];
      try {
        return await send(['EVALSHA', sha, ...rest]);
      } catch (error) {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return send(['EVAL', text, ...rest]);
      }
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
}
