import { createHash } from 'node:crypto';
import type { Log } from '../lib/log.ts';
import { script } from './redis-script.ts';

/** Runs the script of shared limits; what goes wrong is a rejection. */
export type RunScript = (keys: readonly string[], argument: string) => Promise<readonly unknown[]>;

export interface Redis {
  run: RunScript;
  /** Whether there is a connection. */
  ready(): boolean;
  close(): Promise<void>;
}

export interface RedisInput {
  url: string;
  log: Pick<Log, 'info' | 'warn'>;
  /** Told of every new connection. */
  onReady(): void;
}

const CONNECT_MS = 2_000;
const MAX_PAUSE_MS = 5_000;

/** Connects to Redis, and again whenever the connection is lost. The package is loaded only here. */
export async function openRedis({ log, onReady, url }: RedisInput): Promise<Redis> {
  const { createClient } = await import('redis');
  const client = createClient({
    url,
    // What waits for a connection would be counted twice: here at once, and there later.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (tries) => Math.min(MAX_PAUSE_MS, 50 * 2 ** Math.min(tries, 10)),
    },
  });
  let told = false;
  client.on('error', (error: Error) => {
    if (told) return;
    told = true;
    log.warn(
      { error: error.message },
      'Redis does not answer: limits hold for this gateway alone until it does',
    );
  });
  client.on('ready', () => {
    if (told) log.info({}, 'Redis answers: limits are shared again');
    told = false;
    onReady();
  });
  // Tries for ever; the gateway does not wait for it.
  const first = client.connect().catch(() => {});
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
  const sha = createHash('sha1').update(script).digest('hex');
  return {
    ready: () => client.isReady,
    async run(keys, argument) {
      const rest = [String(keys.length), ...keys, argument];
      try {
        return listOf(await client.sendCommand(['EVALSHA', sha, ...rest]));
      } catch (error) {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return listOf(await client.sendCommand(['EVAL', script, ...rest]));
      }
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
}

function listOf(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new Error('Redis answered the script with something else than a list');
}
