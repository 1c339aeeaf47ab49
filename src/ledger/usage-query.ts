import type { Condition, ListQuery } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { type Grouping, grouping } from './schema.ts';
import { type Dimension, dayMs, periodMs, type SumsQuery } from './sums.ts';

/** Days that are summed up when no time is named. */
const DEFAULT_DAYS = 30;
/** Hours are finer, so fewer of them are. */
const DEFAULT_HOURS_MS = 2 * dayMs;

/** Which sums a query asks for, and what is left to be looked at in the sums themselves. */
export interface UsageQuery {
  sums: SumsQuery;
  rest: ListQuery;
}

/**
 * What a list of usage is made of. `by`, `from`, `to` and the dimensions decide which requests are summed up and how;
 * other conditions hold for the sums.
 * @throws GatewayError `invalid_request` for conditions that cannot be put that way
 */
export function usageQuery(query: ListQuery, now: number): UsageQuery {
  const [group = [], ...others] = query.groups;
  if (others.length > 0) throw wrong('conditions on usage cannot be alternatives: leave out "or"');
  const left: Condition[] = [];
  const only: Partial<Record<Dimension, string>> = {};
  let by: readonly Grouping[] = ['day'];
  let since: number | null = null;
  let before: number | null = null;
  for (const condition of group) {
    switch (condition.attribute) {
      case 'by':
        by = groupingsOf(condition);
        break;
      case 'from':
        since = Math.max(since ?? Number.NEGATIVE_INFINITY, boundary(condition, '>='));
        break;
      case 'to':
        before = Math.min(before ?? Number.POSITIVE_INFINITY, boundary(condition, '<='));
        break;
      case 'provider':
      case 'model':
      case 'connection':
      case 'key_id':
      case 'combo_id':
        only[condition.attribute] = plainText(condition);
        break;
      default:
        left.push(condition);
    }
  }
  since ??= defaultSince(by, before ?? now);
  const groups = left.length === 0 ? [] : [left];
  return {
    sums: { by, since, ...(before === null ? {} : { before }), only },
    rest: { ...query, groups },
  };
}

/** The sums that the member of an id belongs to; null for what is no such id. */
export function usageQueryOf(id: string, now: number): UsageQuery['sums'] | null {
  const colon = id.indexOf(':');
  const by = parseGroupings(id.slice(0, Math.max(colon, 0)));
  if (by === null) return null;
  const ms = periodMs(by);
  if (ms === null) return { by, since: defaultSince(by, now) };
  const at = by.findIndex((one) => one === 'hour' || one === 'day');
  const text = id.slice(colon + 1).split('|')[at] ?? '';
  const start = Date.parse(by[at] === 'hour' ? `${text}:00Z` : `${text}T00:00Z`);
  return Number.isNaN(start) ? null : { by, since: start, before: start + ms };
}

/** From where on requests are summed up when no time is named, in milliseconds since the epoch. */
export function defaultSince(by: readonly Grouping[], end: number): number {
  const ms = periodMs(by) ?? dayMs;
  const back = by.includes('hour') ? DEFAULT_HOURS_MS : DEFAULT_DAYS * dayMs;
  return Math.floor((end - back) / ms) * ms;
}

/** Groupings with commas between, as in `day,key`; null for anything else, and for two of one kind. */
export function parseGroupings(text: string): Grouping[] | null {
  const by = text.split(',').map((one) => grouping.safeParse(one.trim()).data);
  const known = by.filter((one) => one !== undefined);
  const kinds = new Set(known.map((one) => (one === 'hour' ? 'day' : one)));
  return known.length === by.length && kinds.size === by.length ? known : null;
}

function groupingsOf({ operator, value }: Condition): Grouping[] {
  const by = typeof value === 'string' ? parseGroupings(value) : null;
  if ((operator !== '=' && operator !== '==') || by === null)
    throw wrong(
      "by='day' names how usage is summed up: hour, day, provider, model, connection, key or combo; several with commas between",
    );
  return by;
}

function boundary({ attribute, operator, value }: Condition, wanted: '>=' | '<='): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (operator !== wanted || Number.isNaN(at)) throw wrong(`"${attribute}" goes with ${wanted} and a time`);
  return at;
}

function plainText({ attribute, operator, value }: Condition): string {
  const isPlain = operator === '==' || (operator === '=' && !/[*%]/.test(String(value)));
  if (!isPlain || typeof value !== 'string')
    throw wrong(`"${attribute}" goes with = and one value without wildcards`);
  return value;
}

function wrong(problem: string): GatewayError {
  return new GatewayError('invalid_request', `filter[]: ${problem}`, { param: 'filter[]' });
}
