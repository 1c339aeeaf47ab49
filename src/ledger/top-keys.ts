import { nthLargest } from '../lib/largest.ts';
import { allSums, hasArchived, sumsOfKeys } from './kept-sums/read.ts';
import { type CountedValues, countedValues } from './kept-sums/read-counts.ts';
import { amountBits, type ValueCounts } from './kept-sums/value-counts.ts';
import type { LedgerReader } from './sliced-sums.ts';
import { sortedByGroup } from './sliced-sums.ts';
import { added, exact, type SumGroups, type Sums, type SumsQuery } from './sums.ts';
import { dearerGroup, type RankedSums } from './top.ts';

/**
 * The same as `topGroups` of the sums by key, of which there may be many: counts of values tell which keys cost most, and all else is
 * summed up of these and of all keys together. Null where it cannot be told so.
 * @param now milliseconds since the epoch
 */
export async function topKeys(
  store: LedgerReader,
  query: SumsQuery,
  most: number,
  now: number,
): Promise<RankedSums[] | null> {
  const { before, by, only = {}, since } = query;
  const isNarrowed = Object.values(only).some((value) => value !== undefined);
  if (by.length !== 1 || by[0] !== 'key' || isNarrowed || (await hasArchived(store, query))) return null;
  const time = { since, before: before ?? null, now };
  const countsOf = async (brief?: 'costs') =>
    (await countedValues(store, ['key_id'], { ...time, ...(brief === undefined ? {} : { brief }) }))?.get(
      'key_id',
    );
  let counts = await countsOf('costs');
  if (counts === undefined || counts.counts.numbers.length <= most) return null;
  let places = dearestPlaces(counts.counts, most);
  // Among those that cost the same, more is needed than a brief says.
  if (counts.isBrief && places.length > most) {
    counts = await countsOf();
    if (counts === undefined) return null;
    places = dearestPlaces(counts.counts, most);
  }
  const first = await dearest(counts, places, most);
  const sums: SumGroups = new Map();
  for (const one of await sumsOfKeys(store, query, [...first.values()]))
    sums.set(JSON.stringify(Object.values(one.dimensions)), one);
  const [all] = await allSums(store, { ...query, by: [] });
  if (all === undefined) return null;
  const told = sortedByGroup(sums);
  const rest = without(all, told, knownWithout(counts.counts, new Set(first.keys())));
  return [
    ...told.map((one) => ({ ...one, restGroups: 0 })),
    { ...rest, restGroups: counts.counts.numbers.length - first.size },
  ];
}

/** Above what a sum of fractions is off by, in USD. */
const ROUNDING_USD = 1e-6;

/** Where in the counts the values are that cost most; more than enough: costs that are the same may differ in their last bits. */
function dearestPlaces({ costs }: ValueCounts, most: number): number[] {
  const least = nthLargest(costs, most) - ROUNDING_USD;
  const places: number[] = [];
  // Not by its entries, each of which would be an array: there are 100,000.
  for (let place = 0; place < costs.length; place += 1) if ((costs[place] ?? 0) >= least) places.push(place);
  return places;
}

/** The values that cost most, by their place in the counts. */
async function dearest(
  { counts: { costs, numbers, requests, tokens }, valuesOf }: CountedValues,
  places: readonly number[],
  most: number,
): Promise<ReadonlyMap<number, string | null>> {
  const values = await valuesOf(places.map((place) => numbers[place] ?? 0));
  return new Map(
    places
      .map((place) => ({
        place,
        value: values.get(numbers[place] ?? 0) ?? null,
        cost: exact(costs[place] ?? 0),
        tokens: tokens[place] ?? 0,
        requests: requests[place] ?? 0,
      }))
      .sort((one, other) =>
        dearerGroup(
          { ...one, group: JSON.stringify([one.value]) },
          { ...other, group: JSON.stringify([other.value]) },
        ),
      )
      .slice(0, most)
      .map(({ place, value }) => [place, value]),
  );
}

/** Which amounts are known of the other values, as the bits of `amountBits`. */
function knownWithout({ known }: ValueCounts, places: ReadonlySet<number>): number {
  let bits = 0;
  for (let place = 0; place < known.length; place += 1) if (!places.has(place)) bits |= known[place] ?? 0;
  return bits;
}

/** What remains of all sums without those of some groups. @param known which amounts are known of what remains */
function without(all: Sums, groups: readonly Sums[], known: number): Sums {
  const [first, ...others] = groups;
  if (first === undefined) return { ...all, dimensions: {} };
  const told = others.reduce(added, first);
  const left = (of: (sums: Sums) => number | null) => exact((of(all) ?? 0) - (of(told) ?? 0));
  const amount = (bit: number, of: (sums: Sums) => number | null) => ((known & bit) === 0 ? null : left(of));
  const usage = { ...all.usage };
  for (const name of Object.keys(usage) as (keyof typeof usage)[])
    usage[name] = left((sums) => sums.usage[name]);
  return {
    period: null,
    dimensions: {},
    requests: left((sums) => sums.requests),
    failed: left((sums) => sums.failed),
    aborted: left((sums) => sums.aborted),
    estimated: left((sums) => sums.estimated),
    unpriced: left((sums) => sums.unpriced),
    unpricedTokens: left((sums) => sums.unpricedTokens),
    costUsd: amount(amountBits.cost, (sums) => sums.costUsd),
    cacheSavingsUsd: amount(amountBits.cacheSavings, (sums) => sums.cacheSavingsUsd),
    billedUsd: amount(amountBits.billed, (sums) => sums.billedUsd),
    planUsd: amount(amountBits.plan, (sums) => sums.planUsd),
    routingSavingsUsd: amount(amountBits.routingSavings, (sums) => sums.routingSavingsUsd),
    inputTokens: left((sums) => sums.inputTokens),
    outputTokens: left((sums) => sums.outputTokens),
    usage,
    durationMs: left((sums) => sums.durationMs),
    ttftMs: left((sums) => sums.ttftMs),
    ttftCount: left((sums) => sums.ttftCount),
  };
}
