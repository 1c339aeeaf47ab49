import { exact } from '../sums.ts';
import { decodeColumns, encodeColumns } from './packed-columns.ts';

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

/** Reads what `encodeCounts` has written. Machines that run Node.js are little-endian. */
export function decodeCounts(bytes: Uint8Array): ValueCounts {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  let at = COUNT_BYTES;
  const next = (): Float64Array => {
    const width = bytes[at] ?? 8;
    at += WIDTH_BYTES;
    const column = columnOf(width, length);
    new Uint8Array(column.buffer).set(bytes.subarray(at, at + width * length));
    at += width * length;
    // All of one type, so that what adds them up is compiled for it.
    return column instanceof Float64Array ? column : new Float64Array(column);
  };
  const [numbers, requests, failed, costs, tokens, known] = [next(), next(), next(), next(), next(), next()];
  return { numbers: fromDistances(numbers), requests, failed, costs, tokens, known };
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

function fromDistances(apart: Float64Array): Float64Array {
  const numbers = new Float64Array(apart.length);
  let last = 0;
  for (let index = 0; index < apart.length; index += 1) {
    last += apart[index] ?? 0;
    numbers[index] = last;
  }
  return numbers;
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

/** Reads what `encodeBrief` has written; what was left out is 0. */
export function decodeBrief(bytes: Uint8Array): ValueCounts {
  const { columns, length } = decodeColumns(bytes);
  const zeros = new Float64Array(length);
  const column = (name: keyof ValueCounts) => columns.get(name) ?? zeros;
  return {
    numbers: fromDistances(column('numbers')),
    requests: column('requests'),
    failed: column('failed'),
    costs: column('costs'),
    tokens: column('tokens'),
    known: column('known'),
  };
}

/** Adds up counts of many spans of time. Costs are added with compensation (Neumaier's), as SQLite does. */
export interface CountsSum {
  add(counts: ValueCounts): void;
  /** Above all numbers of values so far. */
  size(): number;
  sum(): ValueCounts;
}

export function createCountsSum(): CountsSum {
  // By the number of the value.
  let requests = new Float64Array(0);
  let failed = new Float64Array(0);
  let costs = new Float64Array(0);
  let lost = new Float64Array(0);
  let tokens = new Float64Array(0);
  let known = new Uint8Array(0);
  const makeRoom = (size: number) => {
    if (size <= requests.length) return;
    const room = Math.max(size, 2 * requests.length);
    const larger = (column: Float64Array<ArrayBuffer>) => {
      const grown = new Float64Array(room);
      grown.set(column);
      return grown;
    };
    [requests, failed, costs, lost, tokens] = [
      larger(requests),
      larger(failed),
      larger(costs),
      larger(lost),
      larger(tokens),
    ];
    const grown = new Uint8Array(room);
    grown.set(known);
    known = grown;
  };
  return {
    add(counts) {
      const { length } = counts.numbers;
      makeRoom((counts.numbers[length - 1] ?? -1) + 1);
      for (let index = 0; index < length; index += 1) {
        const number = counts.numbers[index] ?? 0;
        requests[number] = (requests[number] ?? 0) + (counts.requests[index] ?? 0);
        failed[number] = (failed[number] ?? 0) + (counts.failed[index] ?? 0);
        tokens[number] = (tokens[number] ?? 0) + (counts.tokens[index] ?? 0);
        known[number] = (known[number] ?? 0) | (counts.known[index] ?? 0);
        const cost = counts.costs[index] ?? 0;
        const before = costs[number] ?? 0;
        const after = before + cost;
        costs[number] = after;
        lost[number] =
          (lost[number] ?? 0) +
          (Math.abs(before) >= Math.abs(cost) ? before - after + cost : cost - after + before);
      }
    },
    size: () => requests.length,
    sum() {
      let length = 0;
      for (let number = 0; number < requests.length; number += 1)
        if ((requests[number] ?? 0) > 0) length += 1;
      const columns = () => new Float64Array(length);
      const total = {
        numbers: columns(),
        requests: columns(),
        failed: columns(),
        costs: columns(),
        tokens: columns(),
        known: columns(),
      };
      let index = 0;
      for (let number = 0; number < requests.length; number += 1) {
        if ((requests[number] ?? 0) === 0) continue;
        total.numbers[index] = number;
        total.requests[index] = requests[number] ?? 0;
        total.failed[index] = failed[number] ?? 0;
        total.costs[index] = (costs[number] ?? 0) + (lost[number] ?? 0);
        total.tokens[index] = tokens[number] ?? 0;
        total.known[index] = known[number] ?? 0;
        index += 1;
      }
      return total;
    },
  };
}
