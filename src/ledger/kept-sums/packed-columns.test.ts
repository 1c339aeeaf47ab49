import assert from 'node:assert/strict';
import { it } from 'node:test';
import { encodeColumns, readColumns } from './packed-columns.ts';

const written = (columns: Record<string, number[]>) =>
  encodeColumns({
    length: Object.values(columns)[0]?.length ?? 0,
    facts: { of: 'a test' },
    columns: new Map(Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)])),
  });

const read = (bytes: Uint8Array) => {
  const { eachColumn, facts, length } = readColumns(bytes);
  const plain: Record<string, number[]> = {};
  for (const [name, column] of eachColumn(new Float64Array(length + 1))) plain[name] = [...column];
  return { length, facts, columns: plain };
};

const examples: Record<string, number[]> = {
  bytes: [0, 1, 255],
  words: [0, 256, 65_535],
  numbers: [0, 65_536, 2 ** 31 - 1],
  large: [0, 1, 2 ** 32],
  signed: [-1, 0, 5],
  prices: [0.000001, 12.345678, 0],
  'fine prices': [0.0000000001, 0.1, 0.2],
  savings: [-0.0000027, 0, 0.1],
  'large prices': [123_456.789, 0.000001, 0],
  thirds: [1 / 3, 2 / 3, 1],
};

it('are read as they were written', () => {
  for (const [name, values] of Object.entries(examples)) {
    const bytes = written({ [name]: values });
    assert.deepEqual(read(bytes), { length: 3, facts: { of: 'a test' }, columns: { [name]: values } });
  }
  // As a part of something larger, at any place.
  const bytes = written(examples);
  const within = new Uint8Array(bytes.length + 1);
  within.set(bytes, 1);
  assert.deepEqual(read(within.subarray(1)).columns, examples);
});

it('take few bytes: whole numbers, prices as whole numbers of small units, and zeros none', () => {
  const sizeOf = (values: number[]) => {
    const long = Array.from({ length: 1_000 }, (_, index) => values[index % values.length] ?? 0);
    return Math.floor(written({ x: long }).length / 1_000);
  };
  const sizes = Object.fromEntries(Object.entries(examples).map(([name, values]) => [name, sizeOf(values)]));
  assert.deepEqual(sizes, {
    bytes: 1,
    words: 2,
    numbers: 4,
    large: 8,
    signed: 4,
    prices: 4,
    'fine prices': 4,
    savings: 4,
    'large prices': 8,
    thirds: 8,
  });
  assert.equal(sizeOf([0]), 0);
  assert.deepEqual(read(written({ zeros: [0, 0] })), { length: 2, facts: { of: 'a test' }, columns: {} });
});
