import type { Principal } from '../access/authenticate.ts';
import { sendJson } from '../http/send.ts';
import type { HttpExchange } from '../http/server/server.ts';
import type { Grouping } from '../ledger/groupings.ts';
import { isTimeZone } from '../ledger/time-buckets.ts';
import { groupingList, parseGroupings } from '../ledger/usage-query.ts';
import { GatewayError } from '../lib/error.ts';
import type { ProxyContext } from './context.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

/**
 * Tells the holder of a key what it has used in the last `days` (default 30), by model, and what is left of its own limits;
 * with `by=day,tag` also by those groupings, in the hours and days of `time_zone`.
 * @throws GatewayError `invalid_request` for days that are no whole number from 1 to 366, groupings and time zones that there are not
 */
export async function serveOwnUsage(
  { now, usageBy, usageOf }: Pick<ProxyContext, 'now' | 'usageBy' | 'usageOf'>,
  exchange: HttpExchange,
  { keyId, name }: Principal,
): Promise<void> {
  const query = new URLSearchParams(exchange.query);
  const before = now();
  const since = before - daysIn(query) * DAY_MS;
  const [by, timeZone] = [groupingsIn(query), timeZoneIn(query)];
  const { limits, ...usage } = await usageOf(keyId, since);
  const groups = by === null ? {} : { groups: await usageBy(keyId, { by, since, before, timeZone }) };
  const span = { from: new Date(since).toISOString(), to: new Date(before).toISOString() };
  sendJson(exchange, 200, {
    object: 'usage',
    key: { id: keyId, name },
    ...span,
    ...usage,
    ...groups,
    limits,
  });
}

function daysIn(query: URLSearchParams): number {
  const text = query.get('days');
  const days = text === null ? DEFAULT_DAYS : Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= MOST_DAYS) return days;
  throw invalid('days', `days must be a whole number from 1 to ${MOST_DAYS}`);
}

function groupingsIn(query: URLSearchParams): readonly Grouping[] | null {
  const text = query.get('by');
  if (text === null) return null;
  const by = parseGroupings(text);
  if (by !== null) return by;
  throw invalid('by', `by takes ${groupingList}; several with commas between, one of them by time`);
}

function timeZoneIn(query: URLSearchParams): string {
  const name = query.get('time_zone') ?? 'UTC';
  if (isTimeZone(name)) return name;
  throw invalid('time_zone', 'time_zone is a name of the IANA database, e.g. Europe/Vienna');
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
