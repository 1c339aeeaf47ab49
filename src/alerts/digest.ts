import { z } from 'zod';
import type { CloudEvent } from '../events/cloudevents/event.ts';
import { type EventData, eventTypes, nameOfType } from '../events/types/catalogue.ts';

/**
 * What becomes of an event: it is sent at once, or counted and summed up at the end of the window. The first of a window is sent,
 * however often that is tried.
 */
export type DigestDecision = 'send' | 'counted';

const group = z.object({
  type: z.string(),
  subject: z.string().nullable(),
  count: z.int(),
  first: z.iso.datetime(),
  last: z.iso.datetime(),
});

/** An open window, as it is stored. */
export const digestWindow = z.object({
  /** Milliseconds since the epoch. */
  since: z.number(),
  until: z.number(),
  /** Which event was the first, and is sent by itself; null where another window went before. */
  first: z.string().nullable(),
  count: z.int(),
  groups: z.array(group),
  moreGroups: z.int(),
});

export type DigestWindow = z.infer<typeof digestWindow>;

/** Groups that a summary names: the rest are counted. */
const MOST_GROUPS = 20;
const LONGEST_SUBJECT = 200;

/** One window of an alert after the other. Pure: storing it and timing are left to the caller. */
export interface Digest {
  window(): DigestWindow | null;
  place(event: CloudEvent, now: number): DigestDecision;
  /** What the window that is over has counted; null where it has nothing to say, and no window is open any more. */
  end(now: number): DigestWindow | null;
}

/** @param windowMs how long after a message the next is, in milliseconds; 0 sends everything at once */
export function createDigest(windowMs: number, stored: DigestWindow | null): Digest {
  let open = stored;
  return {
    window: () => open,
    place(event, now) {
      if (windowMs === 0) return 'send';
      const key = keyOf(event);
      if (open === null) {
        open = emptyWindow(now, now + windowMs, key);
        return 'send';
      }
      if (open.first === key) return 'send';
      count(open, event, now);
      return 'counted';
    },
    end(now) {
      const ended = open;
      if (ended === null) return null;
      if (ended.count === 0) {
        open = null;
        return null;
      }
      open = emptyWindow(now, now + windowMs, null);
      return ended;
    },
  };
}

function emptyWindow(since: number, until: number, first: string | null): DigestWindow {
  return { since, until, first, count: 0, groups: [], moreGroups: 0 };
}

/** Of requests each is about another one: what they have in common is how they ended. */
function groupSubject({ status, subject, type }: CloudEvent['attributes']): string | null {
  const name = nameOfType(type);
  if (name !== null && eventTypes[name].telemetry) return status === undefined ? null : `status ${status}`;
  return subject?.slice(0, LONGEST_SUBJECT) ?? null;
}

function keyOf({ attributes: { id, source } }: CloudEvent): string {
  return JSON.stringify([source, id]);
}

function count(window: DigestWindow, { attributes }: CloudEvent, now: number): void {
  const subject = groupSubject(attributes);
  const { type } = attributes;
  const at = new Date(now).toISOString();
  window.count += 1;
  const group = window.groups.find((one) => one.type === type && one.subject === subject);
  if (group !== undefined) {
    group.count += 1;
    group.last = at;
  } else if (window.groups.length < MOST_GROUPS)
    window.groups.push({ type, subject, count: 1, first: at, last: at });
  else window.moreGroups += 1;
}

/** The data of the event that sums a window up. */
export function summaryOf(
  { count: events, groups, moreGroups, since, until }: DigestWindow,
  alert: { id: string; name: string },
): EventData<'alert.digest'> {
  return {
    alert_id: alert.id,
    alert: alert.name,
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    count: events,
    groups: [...groups].sort((a, b) => b.count - a.count),
    more_groups: moreGroups,
  };
}
