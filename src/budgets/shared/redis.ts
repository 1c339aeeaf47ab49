import { z } from 'zod';
import type { Log } from '../../lib/log.ts';
import { connectRedis, redisScript } from '../../lib/redis/redis.ts';
import type { TallyExchange, TallyExchangeReply, TallyProposal } from './exchange.ts';
import { script } from './redis-script.ts';

export interface Redis {
  exchange: TallyExchange;
  /** Whether there is a connection. */
  ready(): boolean;
  close(): Promise<void>;
}

export interface RedisInput {
  url: string;
  log: Pick<Log, 'info' | 'warn'>;
  /** Called when a connection is ready, and when it is lost. */
  onChange(): void;
}

const EPOCH = '{modelgate}:epoch';
const PREFIX = '{modelgate}:tally:';

/** Connects to Redis, and again whenever the connection is lost. */
export async function openRedis({ log, onChange, url }: RedisInput): Promise<Redis> {
  let warned = false;
  const connection = await connectRedis({
    url,
    onError(error) {
      onChange();
      if (warned) return;
      warned = true;
      log.warn(
        { error: error.message },
        'Redis does not answer: budgets are limited to what was granted before',
      );
    },
    onReady() {
      if (warned) log.info({}, 'Redis answers: budgets are shared again');
      warned = false;
      onChange();
    },
  });
  const putTallies = redisScript(script);
  return {
    ready: connection.ready,
    async exchange({ epoch, newEpoch, proposals, renew }) {
      const keys = [EPOCH, ...proposals.map(({ key }) => `${PREFIX}${key}`)];
      const values = [epoch ?? '', newEpoch, renew ? '1' : '0', ...proposals.flatMap(argumentsOf)];
      return replyOf(await connection.run(putTallies, keys, values), proposals.length);
    },
    close: connection.close,
  };
}

function argumentsOf({ tally, ttlMs, version, wasVersion }: TallyProposal): string[] {
  return [wasVersion ?? '', version, tally, String(ttlMs)];
}

const accepted = z.literal(1);
const answer = z
  .tuple([z.coerce.number(), z.string(), z.coerce.number()])
  .rest(z.union([accepted, z.tuple([z.string(), z.string()])]));

/** @throws Error for what the script does not answer */
function replyOf(reply: unknown, proposals: number): TallyExchangeReply {
  const [now, epoch, epochAgeMs, ...rest] = answer.parse(reply);
  if (rest.length !== proposals) throw new Error('Redis answered for another number of budgets than asked');
  return {
    now,
    epoch,
    epochAgeMs,
    conflicts: rest.map((one) =>
      one === 1 ? null : { version: one[0] === '' ? null : one[0], tally: one[1] },
    ),
  };
}
