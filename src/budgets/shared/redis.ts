import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Log } from '../../lib/log.ts';
import type { Exchange, ExchangeReply, Proposal } from './exchange.ts';
import { script } from './redis-script.ts';

export interface Redis {
  exchange: Exchange;
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

const CONNECT_MS = 2_000;
const MAX_PAUSE_MS = 500;
/** A connection on which nothing comes for so long is given up. The gateway asks something every second. */
const SILENCE_MS = 10_000;

const EPOCH = '{modelgate}:epoch';
const PREFIX = '{modelgate}:tally:';

/** Connects to Redis, and again whenever the connection is lost. The package is loaded only here. */
export async function openRedis({ log, onChange, url }: RedisInput): Promise<Redis> {
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url,
    // Who has to wait for a connection decides by the leases at hand.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (tries) => Math.min(MAX_PAUSE_MS, 50 * 2 ** Math.min(tries, 10)),
    },
  });
  let warned = false;
  client.on('error', (error: Error) => {
    onChange();
    if (warned) return;
    warned = true;
    log.warn({ error: error.message }, 'Redis does not answer: budgets are held to what was granted before');
  });
  client.on('ready', () => {
    if (warned) log.info({}, 'Redis answers: budgets are shared again');
    warned = false;
    onChange();
  });
  // Tries for ever; the gateway does not wait for it.
  const first = client.connect().catch(() => {});
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
  const sha = createHash('sha1').update(script).digest('hex');
  const run = async (rest: string[]): Promise<unknown> => {
    try {
      return await client.sendCommand(['EVALSHA', sha, ...rest]);
    } catch (error) {
      if (!String(error).includes('NOSCRIPT')) throw error;
      return client.sendCommand(['EVAL', script, ...rest]);
    }
  };
  return {
    ready: () => client.isReady,
    async exchange({ epoch, newEpoch, proposals, renew }) {
      const keys = [EPOCH, ...proposals.map(({ key }) => `${PREFIX}${key}`)];
      const rest = [String(keys.length), ...keys, epoch ?? '', newEpoch, renew ? '1' : '0'];
      return replyOf(await run([...rest, ...proposals.flatMap(argumentsOf)]), proposals.length);
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
}

function argumentsOf({ tally, ttlMs, version, wasVersion }: Proposal): string[] {
  return [wasVersion ?? '', version, tally, String(ttlMs)];
}

const accepted = z.literal(1);
const answer = z
  .tuple([z.coerce.number(), z.string(), z.coerce.number()])
  .rest(z.union([accepted, z.tuple([z.string(), z.string()])]));

/** @throws Error for what the script does not answer */
function replyOf(reply: unknown, proposals: number): ExchangeReply {
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
