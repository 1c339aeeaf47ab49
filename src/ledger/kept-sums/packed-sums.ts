import {
  type Dimension,
  dimensionsIn,
  exact,
  measures,
  periodOf,
  type Sums,
  type SumsQuery,
  sumsOfGroup,
} from '../sums.ts';
import { encodeColumns, readColumns } from './packed-columns.ts';
import { amountBits } from './value-counts.ts';

/** What a group was made by, one column for each dimension. */
type Names = readonly (string | null)[];

/** The sums of a span of time as a query has them: for each dimension and each kept measure what the groups have, in one order. */
export interface GroupColumns {
  names: Readonly<Partial<Record<Dimension, Names>>>;
  amounts: Readonly<Record<string, readonly (number | null)[]>>;
}

/** The amounts that are null where none is known, and the bit that says of a group that it is. */
const perhapsKnown: ReadonlyMap<string, number> = new Map([
  ['cost_usd', amountBits.cost],
  ['cache_savings_usd', amountBits.cacheSavings],
  ['billed_usd', amountBits.billed],
  ['plan_usd', amountBits.plan],
  ['routing_savings_usd', amountBits.routingSavings],
]);

const KNOWN = 'known';

/** Writes the sums of all groups of a span as bytes. */
export function encodeSums({ amounts, names }: GroupColumns): Uint8Array {
  const length = amounts['requests']?.length ?? 0;
  const columns = new Map<string, Float64Array>();
  const knownBits = new Float64Array(length);
  for (const { sumColumn } of measures) {
    const values = amounts[sumColumn] ?? [];
    const bit = perhapsKnown.get(sumColumn) ?? 0;
    // What is a sum of binary fractions becomes the decimal number that it stands for.
    columns.set(
      sumColumn,
      Float64Array.from(values, (value) => (value === null ? 0 : exact(value))),
    );
    for (const [place, value] of values.entries())
      if (bit !== 0 && value !== null) knownBits[place] = (knownBits[place] ?? 0) | bit;
  }
  return encodeColumns({ length, facts: names, columns: columns.set(KNOWN, knownBits) });
}

/** Adds up the packed sums of spans of time, by what a query groups by and narrows to. */
export interface PackedSumsTotal {
  /** @param at where the span begins, in milliseconds since the epoch */
  add(at: number, bytes: Uint8Array): void;
  sums(): Sums[];
  /** The same as columns, for `encodeSums`. */
  columns(): GroupColumns;
}

/** A group, or on the way to it what begins with the same names. */
interface Branch {
  place: number | null;
  branches: Map<string | null, Branch>;
}

export function createPackedSumsTotal(query: SumsQuery): PackedSumsTotal {
  const dimensions = dimensionsIn(query.by);
  const period = periodOf(query);
  const only = Object.entries(query.only ?? {}).filter(([, value]) => value !== undefined);
  const groups: { period: number | null; names: Names }[] = [];
  const roots = new Map<number | null, Branch>();
  const totals = new Map<string, ColumnSum>();
  // Each column of each span would be as much memory again.
  let room = new Float64Array(0);
  const rootOf = (start: number | null): Branch => {
    const root = roots.get(start) ?? { place: null, branches: new Map() };
    roots.set(start, root);
    return root;
  };
  const placeIn = (root: Branch, start: number | null, columns: readonly Names[], row: number): number => {
    let branch = root;
    for (const column of columns) {
      const name = column[row] ?? null;
      let next = branch.branches.get(name);
      if (next === undefined) {
        next = { place: null, branches: new Map() };
        branch.branches.set(name, next);
      }
      branch = next;
    }
    if (branch.place === null) {
      branch.place = groups.length;
      groups.push({ period: start, names: columns.map((column) => column[row] ?? null) });
    }
    return branch.place;
  };
  /** What there is of a measure, by the place of the group; null where it is not known. */
  const amountsOf = (kept: string): ((place: number) => number | null) => {
    const [knownBits, total] = [totals.get(KNOWN), totals.get(kept)];
    const bit = perhapsKnown.get(kept) ?? 0;
    return (place) =>
      bit === 0 || ((knownBits?.at(place) ?? 0) & bit) !== 0 ? (total?.at(place) ?? 0) : null;
  };
  return {
    add(at, bytes) {
      const { eachColumn, facts, length } = readColumns(bytes);
      const names = facts as GroupColumns['names'];
      const start = period === null ? null : period.startOf(at);
      const root = rootOf(start);
      const grouped = dimensions.map((dimension) => names[dimension] ?? []);
      const rows: number[] = [];
      const places: number[] = [];
      for (let row = 0; row < length; row += 1) {
        if (only.some(([dimension, value]) => names[dimension as Dimension]?.[row] !== value)) continue;
        rows.push(row);
        places.push(placeIn(root, start, grouped, row));
      }
      if (room.length < length) room = new Float64Array(2 * length);
      for (const [name, column] of eachColumn(room)) {
        const total = totals.get(name) ?? createColumnSum();
        totals.set(name, total);
        total.reach(groups.length);
        if (name === KNOWN) total.mark(places, rows, column);
        else total.add(places, rows, column);
      }
    },
    sums() {
      // Without a grouping there is one group in any case.
      if (groups.length === 0 && query.by.length === 0) groups.push({ period: null, names: [] });
      const amounts = new Map(measures.map(({ as, sumColumn }) => [as, amountsOf(sumColumn)]));
      return groups.map(({ names, period: start }, place) =>
        sumsOfGroup(
          start,
          Object.fromEntries(dimensions.map((dimension, index) => [dimension, names[index] ?? null])),
          (measure) => amounts.get(measure)?.(place) ?? null,
        ),
      );
    },
    columns: () => ({
      names: Object.fromEntries(
        dimensions.map((dimension, index) => [dimension, groups.map(({ names }) => names[index] ?? null)]),
      ),
      amounts: Object.fromEntries(
        measures.map(({ sumColumn }) => {
          const amountAt = amountsOf(sumColumn);
          return [sumColumn, groups.map((_, place) => amountAt(place))];
        }),
      ),
    }),
  };
}

/** Sums of one measure by the place of the group. Fractions are added with compensation (Neumaier's), as SQLite does. */
interface ColumnSum {
  /** Makes room for so many groups. */
  reach(length: number): void;
  add(places: readonly number[], rows: readonly number[], column: Float64Array): void;
  /** Sets bits. */
  mark(places: readonly number[], rows: readonly number[], column: Float64Array): void;
  at(place: number): number;
}

function createColumnSum(): ColumnSum {
  let sums = new Float64Array(0);
  let lost = new Float64Array(0);
  return {
    reach(length) {
      if (length <= sums.length) return;
      const room = Math.max(length, 2 * sums.length);
      const [before, beforeLost] = [sums, lost];
      sums = new Float64Array(room);
      sums.set(before);
      lost = new Float64Array(room);
      lost.set(beforeLost);
    },
    add(places, rows, column) {
      for (let index = 0; index < places.length; index += 1) {
        const place = places[index] ?? 0;
        const value = column[rows[index] ?? 0] ?? 0;
        const before = sums[place] ?? 0;
        const after = before + value;
        sums[place] = after;
        lost[place] =
          (lost[place] ?? 0) +
          (Math.abs(before) >= Math.abs(value) ? before - after + value : value - after + before);
      }
    },
    mark(places, rows, column) {
      for (let index = 0; index < places.length; index += 1) {
        const place = places[index] ?? 0;
        sums[place] = (sums[place] ?? 0) | (column[rows[index] ?? 0] ?? 0);
      }
    },
    at: (place) => (sums[place] ?? 0) + (lost[place] ?? 0),
  };
}
