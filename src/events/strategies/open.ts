import { newId } from '../../lib/id.ts';
import type { Log } from '../../lib/log.ts';
import { connectRedis, type RedisConnection } from '../../lib/redis/redis.ts';
import { monotonicClock } from './clock.ts';
import { createGates, type Gates } from './gates.ts';
import { createGlobalLimits } from './global/global-limits.ts';
import { createOutage } from './global/outage.ts';
import { createRedisLimitStore } from './global/redis-store.ts';
import type { BreakerState } from './limit.ts';

const PERMIT_MS = 10_000;

export interface OpenGatesInput {
  /** Where limits of MODE_GLOBAL are held; null: there is no such place. */
  readonly redis: { readonly url: string; readonly timeoutMs: number } | null;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** How long what a killed gateway held of a concurrency limit is missing, in milliseconds. */
  readonly permitMs?: number;
  onBreaker(resource: string, state: BreakerState): void;
}

export interface OpenGates extends Gates {
  /** Ends the connection to Redis. */
  disconnect(): Promise<void>;
}

/** The gates of an engine. Redis is connected to when a global limit is first asked. */
export function openGates({ log, onBreaker, permitMs = PERMIT_MS, redis }: OpenGatesInput): OpenGates {
  if (redis === null) {
    const gates = createGates({ clock: monotonicClock, global: null, onBreaker });
    return { ...gates, disconnect: async () => {} };
  }
  const outage = createOutage(log);
  const connection = connectOnUse(redis.url, outage.failed);
  const global = createGlobalLimits({
    store: createRedisLimitStore(connection, newId('gw'), redis.timeoutMs),
    outage,
    clock: monotonicClock,
    permitTtlMs: permitMs,
    newId: () => newId('call'),
  });
  const gates = createGates({ clock: monotonicClock, global, onBreaker });
  return { ...gates, disconnect: connection.close };
}

function connectOnUse(url: string, onError: (error: unknown) => void): RedisConnection {
  let opening: Promise<RedisConnection> | null = null;
  let opened: RedisConnection | null = null;
  const open = async () => {
    opened = await connectRedis({ url, onError, onReady() {} });
    return opened;
  };
  return {
    ready: () => opened === null || opened.ready(),
    async run(script, keys, values) {
      opening ??= open();
      return (await opening).run(script, keys, values);
    },
    async close() {
      await (await opening)?.close();
    },
  };
}
