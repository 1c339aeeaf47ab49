import type { Grouping } from './groupings.ts';
import { added, type Sums } from './sums.ts';
import { timeGroupingIn } from './time-buckets.ts';

/** Sums of a group, or of all groups together that are not among the first. */
export interface RankedSums extends Sums {
  /** How many groups it is of, beyond the first so many; 0 for a group of its own. */
  restGroups: number;
}

/**
 * The groups that cost most over the whole time, each with its sums of every bucket of time, and one more for the rest of
 * each bucket, so that all rows together are what they were. Where costs are the same the more tokens come first.
 * @param most how many groups; null for all
 */
export function topGroups(sums: readonly Sums[], by: readonly Grouping[], most: number | null): RankedSums[] {
  const ofGroup = (one: Sums): RankedSums => ({ ...one, restGroups: 0 });
  const hasGroups = by.some((one) => one !== timeGroupingIn(by));
  if (most === null || !hasGroups) return sums.map(ofGroup);
  const wholes = new Map<string, Sums>();
  const keys = new Map<Sums, string>();
  for (const one of sums) {
    const key = groupOf(one);
    const whole = wholes.get(key);
    wholes.set(key, whole === undefined ? one : added(whole, one));
    keys.set(one, key);
  }
  if (wholes.size <= most) return sums.map(ofGroup);
  const first = new Set(
    [...wholes]
      .map(([key, whole]) => costOf(whole, key))
      .sort(dearerGroup)
      .slice(0, most)
      .map(({ group }) => group),
  );
  const isFirst = (one: Sums) => first.has(keys.get(one) ?? '');
  const rests = new Map<number | null, RankedSums>();
  for (const one of sums) {
    if (isFirst(one)) continue;
    const rest = rests.get(one.period);
    const sofar = rest === undefined ? { ...one, dimensions: {} } : added(rest, one);
    rests.set(one.period, { ...sofar, restGroups: (rest?.restGroups ?? 0) + 1 });
  }
  const kept = sums.filter(isFirst).map(ofGroup);
  return [...kept, ...rests.values()].sort((one, other) => (one.period ?? 0) - (other.period ?? 0));
}

function groupOf({ dimensions }: Sums): string {
  return JSON.stringify(Object.values(dimensions));
}

function costOf({ costUsd, inputTokens, outputTokens, requests }: Sums, group: string): GroupCost {
  return { cost: costUsd ?? 0, tokens: inputTokens + outputTokens, requests, group };
}

/** What the order of groups depends on. */
export interface GroupCost {
  /** USD. */
  cost: number;
  tokens: number;
  requests: number;
  /** Its names, as JSON text. */
  group: string;
}

/** The order of groups in which the dearest comes first. */
export function dearerGroup(one: GroupCost, other: GroupCost): number {
  return (
    other.cost - one.cost ||
    other.tokens - one.tokens ||
    other.requests - one.requests ||
    (one.group < other.group ? -1 : 1)
  );
}
