import type { createClient } from '@redis/client';

export type RedisClient = ReturnType<typeof createClient>;

export interface RedisClientOptions {
  url: string;
  /** For how long nothing may come until a connection is given up, in milliseconds. */
  silenceMs: number;
  /** How often the server is pinged, in milliseconds. Default: never. */
  pingMs?: number;
}

/** How long a connection may take to be made, in milliseconds. */
export const CONNECT_MS = 2_000;
/** The default of `silenceMs`. */
export const SILENCE_MS = 10_000;
const MAX_PAUSE_MS = 500;

/** A client that connects again whenever its connection is lost, once `connect` is called. The package is loaded with the first one. */
export async function createReconnectingClient({
  pingMs,
  silenceMs,
  url,
}: RedisClientOptions): Promise<RedisClient> {
  const { createClient } = await import('@redis/client');
  return createClient({
    url,
    // Who has to wait for a connection decides by what is at hand.
    disableOfflineQueue: true,
    ...(pingMs === undefined ? {} : { pingInterval: pingMs }),
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: silenceMs,
      reconnectStrategy: (tries) => Math.min(MAX_PAUSE_MS, 50 * 2 ** Math.min(tries, 10)),
    },
  });
}

/** Gives up the connection, and makes another in the background. */
export function reconnect(client: RedisClient): void {
  client.destroy();
  client.connect().catch(() => {});
}
