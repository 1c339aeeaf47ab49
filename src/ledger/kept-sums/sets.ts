import { randomInt } from 'node:crypto';
import type { Grouping } from '../groupings.ts';
import { type Dimension, dimensionsIn, type SumsQuery } from '../sums.ts';
import { timeBuckets, timeGroupingIn } from '../time-buckets.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** What sums are kept by. */
export interface KeptSet {
  /** What its rows are found by. */
  name: string;
  by: readonly Grouping[];
  /** Of hours, or of days of UTC, where there are many groups. */
  stepMs: number;
  /** The set that its sums are made of; absent where they are made of the requests. */
  of?: string;
}

/** The fewest groups first: the first that can answer a question does. */
export const keptSets: readonly KeptSet[] = [
  { name: 'total', by: [], stepMs: HOUR_MS, of: 'hour' },
  { name: 'outcome', by: ['outcome'], stepMs: HOUR_MS, of: 'hour' },
  { name: 'format', by: ['format'], stepMs: HOUR_MS, of: 'hour' },
  { name: 'tier', by: ['tier'], stepMs: HOUR_MS, of: 'hour' },
  { name: 'model', by: ['model'], stepMs: HOUR_MS, of: 'hour' },
  { name: 'hour', by: ['model', 'format', 'outcome', 'tier'], stepMs: HOUR_MS },
  { name: 'team', by: ['team'], stepMs: DAY_MS },
  { name: 'combo', by: ['combo'], stepMs: DAY_MS },
  { name: 'connection', by: ['connection', 'model'], stepMs: DAY_MS },
  { name: 'owner', by: ['owner'], stepMs: DAY_MS },
  { name: 'tag', by: ['tag'], stepMs: DAY_MS },
  { name: 'key', by: ['key'], stepMs: DAY_MS },
];

/** The sets that are packed too, for hours and for days: those by key would be as many as the requests. */
export const packedSets: readonly KeptSet[] = keptSets.filter(
  ({ name, stepMs }) => stepMs === DAY_MS && name !== 'key',
);

export function isPacked({ name }: KeptSet): boolean {
  return packedSets.some((set) => set.name === name);
}

/** Whether the sums of such a span are only packed: there are no rows of theirs in `usage_sums`. */
export function isPackedAlone({ name, stepMs }: KeptSet): boolean {
  return packedSets.some((set) => set.name === name && set.stepMs !== stepMs);
}

/** A length of spans whose sums and counts are added up from those of shorter spans. */
export interface RollupStep {
  stepMs: number;
  /** The length of the shorter spans. */
  of: number;
}

/** The shortest first. A month has 29 days and 23 hours at its ends: some ten of these spans instead. */
export const rollupSteps: readonly RollupStep[] = [
  { stepMs: 6 * HOUR_MS, of: HOUR_MS },
  { stepMs: 4 * DAY_MS, of: DAY_MS },
  { stepMs: 16 * DAY_MS, of: 4 * DAY_MS },
];

/** The lengths of these that are within a range, the longest first. */
export function rollupStepsBetween(above: number, below: number): number[] {
  return rollupSteps
    .map(({ stepMs }) => stepMs)
    .filter((stepMs) => stepMs > above && stepMs < below)
    .reverse();
}

export function isRollupStep(stepMs: number): boolean {
  return rollupSteps.some((step) => step.stepMs === stepMs);
}

/** A number for a span that is counted, which no other is likely to have. */
export const countedNumber = (): number => randomInt(1, 2 ** 31);

/** The lengths of the spans that sums are kept for. */
export const stepsMs: readonly number[] = [...new Set(keptSets.map(({ stepMs }) => stepMs))];

/** The kept sums that a question can be answered from; null for none. */
export function setFor(query: SumsQuery): KeptSet | null {
  return setsFor(query)[0] ?? null;
}

/** The same with the sums of longer and shorter spans that there are, which are packed: those of the longest first. */
export function setsFor(query: SumsQuery): readonly KeptSet[] {
  const wanted = requestedDimensions(query);
  const fits = (set: KeptSet) => holds(set, wanted) && fitsTime(set, query);
  const whole = keptSets.find(fits);
  if (whole?.stepMs === HOUR_MS) return [whole];
  const packed = (stepsMs: readonly number[]) =>
    stepsMs.map((stepMs) => packedSets.map((set) => ({ ...set, stepMs })).find(fits));
  return [
    ...packed(rollupStepsBetween(DAY_MS, Number.POSITIVE_INFINITY)),
    whole,
    ...packed([...rollupStepsBetween(HOUR_MS, DAY_MS), HOUR_MS]),
  ].filter((set) => set !== undefined);
}

function requestedDimensions({ by, only = {} }: SumsQuery): ReadonlySet<Dimension> {
  const filters = Object.entries(only).flatMap(([name, value]) =>
    value === undefined ? [] : [name as Dimension],
  );
  return new Set([...dimensionsIn(by), ...filters]);
}

function holds({ by }: KeptSet, wanted: ReadonlySet<Dimension>): boolean {
  const held: readonly Dimension[] = dimensionsIn(by);
  // A request counts for each of its tags: those sums answer nothing but questions about tags.
  if (held.includes('tag') && !wanted.has('tag')) return false;
  return [...wanted].every((dimension) => held.includes(dimension));
}

/** Whether no span of the set lies in two buckets of time: clocks may be off by half an hour, days begin with them, and months at any day. */
function fitsTime({ stepMs }: KeptSet, { before, by, since, timeZone }: SumsQuery): boolean {
  const kind = timeGroupingIn(by);
  if (kind === null) return true;
  if (kind === 'hour' && stepMs > HOUR_MS) return false;
  if (stepMs <= DAY_MS && (timeZone === undefined || timeZone === 'UTC')) return true;
  const buckets = timeBuckets(kind, timeZone);
  const end = before ?? Date.now();
  let start = buckets.startOf(since);
  for (let count = 0; start <= end && count < MOST_BUCKETS; count += 1) {
    if (start % stepMs !== 0) return false;
    start = buckets.endOf(start);
  }
  return start > end;
}

/** A year of hours, and some. */
const MOST_BUCKETS = 10_000;
