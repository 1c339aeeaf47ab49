import { exact } from '../sums.ts';
import { type ColumnReader, encodeColumns, readColumns } from './packed-columns.ts';

/** How often values occur among requests, and what these cost: one entry for each value, in arrays of the same length. */
export interface ValueCounts {
  /** The values by their numbers in `counted_values`, ascending; 0 for null. */
  numbers: Column;
  requests: Column;
  failed: Column;
  /** Sums of the known costs, in USD. */
  costs: Column;
  /** Input and output tokens. */
  tokens: Column;
  /** Which amounts are known of at least one request: the bits of `amountBits`. */
  known: Column;
}

export type Column = Float64Array | Uint32Array | Uint16Array | Uint8Array;

/** The bits of `known`. */
export const amountBits = { cost: 1, cacheSavings: 2, billed: 4, plan: 8, routingSavings: 16 } as const;

const names = [
  'numbers',
  'requests',
  'failed',
  'costs',
  'tokens',
  'known',
] as const satisfies (keyof ValueCounts)[];

/** Bytes of the number of entries, and of the width of a column. */
const COUNT_BYTES = 4;
const WIDTH_BYTES = 1;

/**
 * Writes counts as bytes: how many entries there are (4 bytes, little-endian), then each column with the width of its elements (1, 2, 4:
 * whole numbers, 8: fractions) before it. Of the numbers of values only the distances are written.
 */
export function encodeCounts(counts: ValueCounts): Uint8Array {
  const { length } = counts.numbers;
  const columns = names.map((name) => (name === 'numbers' ? distances(counts.numbers) : counts[name]));
  const widths = columns.map(widthOf);
  const size = widths.reduce((sum, width) => sum + WIDTH_BYTES + width * length, COUNT_BYTES);
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, length, true);
  let at = COUNT_BYTES;
  for (const [index, column] of columns.entries()) {
    const width = widths[index] ?? 8;
    bytes[at] = width;
    at += WIDTH_BYTES;
    const packed = columnOf(width, length);
    packed.set(column);
    bytes.set(new Uint8Array(packed.buffer), at);
    at += width * length;
  }
  return bytes;
}

/** Reads what `encodeCounts` has written, one column after the other. Machines that run Node.js are little-endian. */
function readCounts(bytes: Uint8Array): Omit<ColumnReader, 'facts'> {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return {
    length,
    *eachColumn(room) {
      // All of one type, so that what adds them up is compiled for it.
      const column = room.subarray(0, length);
      let at = COUNT_BYTES;
      for (const name of names) {
        const width = bytes[at] ?? 8;
        at += WIDTH_BYTES;
        const packed = columnOf(width, length);
        new Uint8Array(packed.buffer).set(bytes.subarray(at, at + packed.byteLength));
        at += packed.byteLength;
        column.set(packed);
        yield [name, column];
      }
    },
  };
}

function distances(numbers: Column): Column {
  const apart = new Uint32Array(numbers.length);
  let last = 0;
  for (let index = 0; index < numbers.length; index += 1) {
    const number = numbers[index] ?? 0;
    apart[index] = number - last;
    last = number;
  }
  return apart;
}

function widthOf(column: Column): number {
  let most = 0;
  for (const value of column) {
    if (!Number.isInteger(value) || value < 0) return 8;
    if (value > most) most = value;
  }
  if (most < 2 ** 8) return 1;
  if (most < 2 ** 16) return 2;
  return most < 2 ** 32 ? 4 : 8;
}

function columnOf(width: number, length: number): Column {
  switch (width) {
    case 1:
      return new Uint8Array(length);
    case 2:
      return new Uint16Array(length);
    case 4:
      return new Uint32Array(length);
    default:
      return new Float64Array(length);
  }
}

/** What is known of the counts of many values for a purpose: the other columns are left out, for they take time to be read. */
export const briefs = {
  /** Which values most requests have. */
  requests: ['requests'],
  /** Which values cost most. */
  costs: ['requests', 'costs', 'known'],
} as const satisfies Record<string, readonly Exclude<keyof ValueCounts, 'numbers'>[]>;

export type Brief = keyof typeof briefs;

/** Writes some columns of counts. */
export function encodeBrief(counts: ValueCounts, brief: Brief): Uint8Array {
  const column = (name: keyof ValueCounts) =>
    Float64Array.from(counts[name], (value) => (name === 'costs' ? exact(value) : value));
  const columns = new Map<string, Float64Array>([['numbers', Float64Array.from(distances(counts.numbers))]]);
  for (const name of briefs[brief]) columns.set(name, column(name));
  return encodeColumns({ length: counts.numbers.length, facts: null, columns });
}

/** Adds up counts of many spans of time. Costs are added with compensation (Neumaier's), as SQLite does. */
export interface CountsSum {
  add(counts: ValueCounts): void;
  /** The same of what `encodeCounts` or, with its name, `encodeBrief` has written, without memory for each of its columns. */
  addBytes(bytes: Uint8Array, brief?: Brief): void;
  /** Above all numbers of values so far. */
  size(): number;
  sum(): ValueCounts;
}

export function createCountsSum(): CountsSum {
  // By the number of the value.
  let totals = emptyTotals(0);
  let size = 0;
  // Of the span that is being added: the number at each place, and the column that is being read.
  let numbers = new Uint32Array(0);
  let room = new Float64Array(0);
  const makeRoom = (length: number) => {
    if (room.length >= length) return;
    room = new Float64Array(2 * length);
    numbers = new Uint32Array(2 * length);
  };
  const reach = (above: number) => {
    size = Math.max(size, above);
    if (above > totals.requests.length)
      totals = enlarged(totals, Math.max(above, 2 * totals.requests.length));
  };
  const addColumn = (name: string, column: Column, length: number): void => {
    switch (name) {
      case 'requests':
      case 'failed':
      case 'tokens':
        addTo(totals[name], numbers, column, length);
        break;
      case 'costs':
        addExactly(totals, numbers, column, length);
        break;
      case 'known':
        for (let index = 0; index < length; index += 1) {
          const number = numbers[index] ?? 0;
          totals.known[number] = (totals.known[number] ?? 0) | (column[index] ?? 0);
        }
        break;
    }
  };
  const placeByDistances = (apart: Float64Array, length: number): void => {
    let last = 0;
    for (let index = 0; index < length; index += 1) {
      last += apart[index] ?? 0;
      numbers[index] = last;
    }
    reach(last + 1);
  };
  return {
    add(counts) {
      const { length } = counts.numbers;
      makeRoom(length);
      numbers.set(counts.numbers);
      reach((numbers[length - 1] ?? 0) + 1);
      for (const name of names) if (name !== 'numbers') addColumn(name, counts[name], length);
    },
    addBytes(bytes, brief) {
      const { eachColumn, length } = brief === undefined ? readCounts(bytes) : readColumns(bytes);
      if (length === 0) return;
      makeRoom(length);
      // Of one value alone, null, there is no column of numbers in a brief.
      numbers[0] = 0;
      reach(1);
      for (const [name, column] of eachColumn(room))
        if (name === 'numbers') placeByDistances(column, length);
        else addColumn(name, column, length);
    },
    size: () => size,
    sum: () => countsOf(totals, size),
  };
}

interface Totals {
  requests: Float64Array;
  failed: Float64Array;
  costs: Float64Array;
  /** What the sums of costs are off by. */
  roundingErrors: Float64Array;
  tokens: Float64Array;
  known: Uint8Array;
}

function emptyTotals(length: number): Totals {
  const column = () => new Float64Array(length);
  return {
    requests: column(),
    failed: column(),
    costs: column(),
    roundingErrors: column(),
    tokens: column(),
    known: new Uint8Array(length),
  };
}

function enlarged(totals: Totals, length: number): Totals {
  const larger = emptyTotals(length);
  for (const name of Object.keys(larger) as (keyof Totals)[]) larger[name].set(totals[name]);
  return larger;
}

function addTo(total: Float64Array, numbers: Uint32Array, column: Column, length: number): void {
  for (let index = 0; index < length; index += 1) {
    const number = numbers[index] ?? 0;
    total[number] = (total[number] ?? 0) + (column[index] ?? 0);
  }
}

function addExactly(
  { costs, roundingErrors }: Totals,
  numbers: Uint32Array,
  column: Column,
  length: number,
): void {
  for (let index = 0; index < length; index += 1) {
    const number = numbers[index] ?? 0;
    const cost = column[index] ?? 0;
    const before = costs[number] ?? 0;
    const after = before + cost;
    costs[number] = after;
    roundingErrors[number] =
      (roundingErrors[number] ?? 0) +
      (Math.abs(before) >= Math.abs(cost) ? before - after + cost : cost - after + before);
  }
}

/** The values that occur. */
function countsOf(
  { costs, failed, known, roundingErrors, requests, tokens }: Totals,
  size: number,
): ValueCounts {
  const numbers = new Float64Array(size);
  let length = 0;
  for (let number = 0; number < size; number += 1) {
    if ((requests[number] ?? 0) === 0) continue;
    numbers[length] = number;
    length += 1;
  }
  const column = (of: (number: number) => number) => {
    const values = new Float64Array(length);
    for (let index = 0; index < length; index += 1) values[index] = of(numbers[index] ?? 0);
    return values;
  };
  return {
    numbers: numbers.slice(0, length),
    requests: column((number) => requests[number] ?? 0),
    failed: column((number) => failed[number] ?? 0),
    costs: column((number) => (costs[number] ?? 0) + (roundingErrors[number] ?? 0)),
    tokens: column((number) => tokens[number] ?? 0),
    known: column((number) => known[number] ?? 0),
  };
}
