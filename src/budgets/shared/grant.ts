import type { Window } from '../window.ts';
import { freeOfOthers, isAlive, isContended, type Tally, usageByOthers } from './tally.ts';

/** What a gateway asks of a budget that it shares. Amounts are whole, as those of a counter. */
export interface GrantRequest {
  me: string;
  window: Window;
  limit: number;
  /** What this gateway has used and set aside itself, of what counts now. */
  used: number;
  /** What it goes on using meanwhile without asking: it is counted for it already. */
  keep: number;
  /** What the requests that wait may use, each. */
  waiting: readonly number[];
  /** What it would like to use without asking, beyond those. */
  want: number;
  /** What one request uses about: less than that is of no use. */
  unit: number;
  /** Milliseconds since the epoch, and the same by Redis's clock. */
  at: number;
  redisNow: number;
}

export interface LeaseGrant {
  /** What may be used without asking from now on, `keep` included. */
  free: number;
  /** Some request would have room if others gave back what they hold free. */
  contended: boolean;
  /** Less was granted than is wanted. */
  limited: boolean;
}

/**
 * What may be granted of a tally, so that all gateways together cannot exceed the limit. Requests that wait get what
 * there is; in reserve a gateway gets no more than its share of half the rest, so that others find some too.
 */
export function grantFrom(tally: Tally, request: GrantRequest): LeaseGrant {
  const { at, keep, limit, me, redisNow, unit, waiting, want, window } = request;
  const free = freeOfOthers(tally, me, window, at, redisNow);
  const used = request.used + usageByOthers(tally, me, window, at, redisNow);
  const [room, rest] = [limit - used - free.stuck, limit - used - free.all];
  let needed = 0;
  let contended = false;
  for (const amount of waiting) {
    if (needed + amount <= rest) needed += amount;
    else if (needed + amount <= room) contended = true;
  }
  const others = Object.entries(tally.entries).filter(([id, entry]) => id !== me && isAlive(entry, redisNow));
  const share = Math.max(0, rest - needed) / (2 * (others.length + 1));
  const reserve =
    contended || isContended(tally, redisNow) || unit === 0
      ? 0
      : Math.floor(Math.min(want, share) / unit) * unit;
  return { free: Math.max(keep, needed + reserve), contended, limited: reserve < want };
}
