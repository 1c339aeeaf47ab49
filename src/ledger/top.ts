import type { Grouping } from './schema.ts';
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
  const every = sums.map((one) => ({ ...one, restGroups: 0 }));
  const hasGroups = by.some((one) => one !== timeGroupingIn(by));
  if (most === null || !hasGroups) return every;
  const wholes = new Map<string, Sums>();
  for (const one of sums) {
    const key = groupOf(one);
    const whole = wholes.get(key);
    wholes.set(key, whole === undefined ? one : added(whole, one));
  }
  if (wholes.size <= most) return every;
  const first = new Set(
    [...wholes]
      .sort(([, one], [, other]) => dearerFirst(one, other))
      .slice(0, most)
      .map(([key]) => key),
  );
  const rests = new Map<number | null, RankedSums>();
  for (const one of sums) {
    if (first.has(groupOf(one))) continue;
    const rest = rests.get(one.period);
    const sofar = rest === undefined ? { ...one, dimensions: {} } : added(rest, one);
    rests.set(one.period, { ...sofar, restGroups: (rest?.restGroups ?? 0) + 1 });
  }
  const kept = every.filter((one) => first.has(groupOf(one)));
  return [...kept, ...rests.values()].sort((one, other) => (one.period ?? 0) - (other.period ?? 0));
}

function groupOf({ dimensions }: Sums): string {
  return JSON.stringify(Object.values(dimensions));
}

function dearerFirst(one: Sums, other: Sums): number {
  const costOf = (sums: Sums): GroupCost => ({
    cost: sums.costUsd ?? 0,
    tokens: sums.inputTokens + sums.outputTokens,
    requests: sums.requests,
    group: groupOf(sums),
  });
  return dearerGroup(costOf(one), costOf(other));
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
