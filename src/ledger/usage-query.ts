import type { Condition, ListQuery } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { tagName } from '../lib/tags.ts';
import { type Grouping, groupingNames } from './groupings.ts';
import type { Dimension, SumsQuery } from './sums.ts';
import { dayMs, isTimeZone, timeBuckets, timeGroupingIn } from './time-buckets.ts';
import { TOTAL, type UsageRowsQuery } from './usage.ts';

/** How many days are summed up when no time is named, by the grouping by time. */
const DEFAULT_DAYS = { hour: 2, day: 30, week: 84, month: 365 } as const;
/** What may be told one by one of the groups that cost most. */
const MOST_TOP = 100;
/** Each is a question of its own to the ledger. */
const MOST_QUESTIONS = 4;

/** Which sums are asked for, and the conditions that are left to be looked at in the sums themselves. */
export interface UsageQuestion {
  sums: UsageRowsQuery;
  left: readonly Condition[];
}

/**
 * What a list of usage is made of: one question, and one more for each `or by='hour'`, whose rows follow.
 * @throws GatewayError `invalid_request` for conditions that cannot be put that way, and for more than four questions
 */
export function usageQuestions(groups: ListQuery['groups'], now: number): UsageQuestion[] {
  const [first = [], ...others] = groups;
  if (others.some(([condition]) => condition?.attribute !== 'by'))
    throw wrong('on usage, "or" goes with by alone: or by=\'hour\'');
  if (groups.length > MOST_QUESTIONS)
    throw wrong(`usage can be summed up in at most ${MOST_QUESTIONS} ways at once: leave out an "or"`);
  return [first, ...others].map((group) => questionOf(group, now));
}

/**
 * `by`, `from`, `to`, `time_zone`, `top` and the dimensions decide which requests are summed up and how; other conditions
 * hold for the sums.
 */
function questionOf(group: readonly Condition[], now: number): UsageQuestion {
  const left: Condition[] = [];
  const only: Partial<Record<Dimension, string>> = {};
  let by: readonly Grouping[] = ['day'];
  let since: number | null = null;
  let before: number | null = null;
  let timeZone = 'UTC';
  let top: number | null = null;
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
      case 'time_zone':
        timeZone = zoneOf(condition);
        break;
      case 'top':
        top = topOf(condition);
        break;
      case 'owner':
      case 'team':
      case 'tag':
      case 'format':
      case 'outcome':
      case 'tier':
      case 'session':
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
  since ??= defaultSince(by, before ?? now, timeZone);
  return { sums: { by, since, ...(before === null ? {} : { before }), timeZone, only, top }, left };
}

/** The sums that the member of an id belongs to; null for what is no such id. */
export function usageQueryOf(id: string, now: number): SumsQuery | null {
  const [by, values] = partsOfId(id);
  if (by === null) return null;
  const kind = timeGroupingIn(by);
  if (kind === null) return { by, since: defaultSince(by, now) };
  const text = values.split('|')[by.indexOf(kind)] ?? '';
  const start = Date.parse(
    kind === 'hour' ? `${text}:00Z` : `${text}${kind === 'month' ? '-01' : ''}T00:00Z`,
  );
  if (Number.isNaN(start)) return null;
  const buckets = timeBuckets(kind);
  const since = buckets.startOf(start);
  return { by, since, before: buckets.endOf(since) };
}

/** What an id groups by, and the values in it. The name of a label follows a colon of its own. */
function partsOfId(id: string): [by: Grouping[] | null, values: string] {
  const parts = id.slice(0, MOST_ID).split(':');
  for (let end = 1; end < parts.length; end += 1) {
    const by = parseGroupings(parts.slice(0, end).join(':'));
    if (by !== null) return [by, parts.slice(end).join(':')];
  }
  return [null, ''];
}

const MOST_ID = 1_000;

/** From where on requests are summed up when no time is named, in milliseconds since the epoch. */
export function defaultSince(by: readonly Grouping[], end: number, timeZone = 'UTC'): number {
  const kind = timeGroupingIn(by) ?? 'day';
  return timeBuckets(kind, timeZone).startOf(end - DEFAULT_DAYS[kind] * dayMs);
}

/** Groupings with commas between, as in `day,key`; none for `total`; null for anything else, and for two of one kind. */
export function parseGroupings(text: string): Grouping[] | null {
  if (text === TOTAL) return [];
  const by = text.split(',').map((one) => groupingOf(one.trim()));
  const known = by.filter((one) => one !== null);
  const times = known.filter((one) => timeGroupingIn([one]) !== null);
  const isSound = known.length === by.length && new Set(known).size === by.length && times.length <= 1;
  return isSound ? known : null;
}

const label = /^label:(.*)$/;

/** The grouping of a name; null for what is none. */
function groupingOf(text: string): Grouping | null {
  const tag = label.exec(text)?.[1];
  if (tag !== undefined) return tagName.test(tag) ? `label:${tag}` : null;
  return groupingNames.find((name) => name === text) ?? null;
}

/** What may be grouped by, in words. */
export const groupingList = `${groupingNames.join(', ')}, label:NAME or total`;

function zoneOf(condition: Condition): string {
  const name = plainText(condition);
  if (isTimeZone(name)) return name;
  throw wrong(
    `time_zone='${name}' is no time zone: name one as the IANA database does, e.g. 'Europe/Vienna'`,
  );
}

function topOf({ operator, value }: Condition): number {
  const count = Number(value);
  if ((operator === '=' || operator === '==') && Number.isInteger(count) && count >= 1 && count <= MOST_TOP)
    return count;
  throw wrong(`top=5 names how many groups are told one by one: a whole number from 1 to ${MOST_TOP}`);
}

function groupingsOf({ operator, value }: Condition): Grouping[] {
  const by = typeof value === 'string' ? parseGroupings(value) : null;
  if ((operator !== '=' && operator !== '==') || by === null)
    throw wrong(
      `by='day' names how usage is summed up: ${groupingList}; several with commas between, one of them by time`,
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
