import { z } from 'zod';
import type { RedisConnection } from '../../../lib/redis/redis.ts';
import { redisScript } from '../../../lib/redis/redis.ts';
import { forgetMember, renewPermits, takeCall, takePermit } from './scripts.ts';
import type { LimitStore } from './store.ts';

const PREFIX = '{modelgate}:events:';

const callAnswer = z.tuple([z.coerce.number(), z.coerce.number(), z.coerce.number()]);
const permitAnswer = z.tuple([z.coerce.number(), z.coerce.number()]);

const scripts = {
  takeCall: redisScript(takeCall),
  takePermit: redisScript(takePermit),
  renewPermits: redisScript(renewPermits),
  forgetMember: redisScript(forgetMember),
};

/**
 * Limits in Redis.
 * @param gateway an id of this process, unlike that of any other
 * @param timeoutMs how long an answer is waited for
 */
export function createRedisLimitStore(
  connection: RedisConnection,
  gateway: string,
  timeoutMs: number,
): LimitStore {
  const callsOf = (limit: string) => `${PREFIX}calls:${limit}`;
  const permitsOf = (limit: string) => `${PREFIX}permits:${limit}`;
  const gatewaysOf = (limit: string) => `${PREFIX}gateways:${limit}`;
  return {
    ready: connection.ready,
    async takeCall(limit, id, threshold, periodMs) {
      const keys = [callsOf(limit), gatewaysOf(limit)];
      const values = [String(threshold), String(periodMs), id, gateway];
      const reply = await inTime(connection.run(scripts.takeCall, keys, values), timeoutMs);
      const [taken, roomIn, gateways] = callAnswer.parse(reply);
      return { taken: taken === 1, roomIn, gateways };
    },
    async forgetCall(limit, id) {
      await inTime(connection.run(scripts.forgetMember, [callsOf(limit)], [id]), timeoutMs);
    },
    async takePermit(limit, id, max, ttlMs) {
      const keys = [permitsOf(limit), gatewaysOf(limit)];
      const values = [String(max), String(ttlMs), id, gateway];
      const reply = await inTime(connection.run(scripts.takePermit, keys, values), timeoutMs);
      const [taken, gateways] = permitAnswer.parse(reply);
      return { taken: taken === 1, gateways };
    },
    async renewPermits(limit, ids, ttlMs) {
      const values = [String(ttlMs), ...ids];
      await inTime(connection.run(scripts.renewPermits, [permitsOf(limit)], values), timeoutMs);
    },
    async returnPermit(limit, id) {
      await inTime(connection.run(scripts.forgetMember, [permitsOf(limit)], [id]), timeoutMs);
    },
  };
}

function inTime<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
