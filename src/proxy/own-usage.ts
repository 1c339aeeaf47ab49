import type { Principal } from '../access/authenticate.ts';
import { sendJson } from '../http/send.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { ProxyContext } from './context.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

/**
 * Tells the holder of a key what it has used in the last `days` (default 30), by model, and what is left of its own limits.
 * @throws GatewayError `invalid_request` for days that are no whole number from 1 to 366
 */
export async function serveOwnUsage(
  { now, usageOf }: Pick<ProxyContext, 'now' | 'usageOf'>,
  exchange: Exchange,
  { keyId, name }: Principal,
): Promise<void> {
  const to = now();
  const from = to - daysOf(exchange.query) * DAY_MS;
  const { limits, ...used } = await usageOf(keyId, from);
  const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  sendJson(exchange, 200, { object: 'usage', key: { id: keyId, name }, ...span, ...used, limits });
}

function daysOf(query: string): number {
  const text = new URLSearchParams(query).get('days');
  const days = text === null ? DEFAULT_DAYS : Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= MOST_DAYS) return days;
  throw new GatewayError('invalid_request', `days must be a whole number from 1 to ${MOST_DAYS}`, {
    param: 'days',
  });
}
